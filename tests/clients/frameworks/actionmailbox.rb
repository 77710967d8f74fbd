# Rails' Action Mailbox with Debian's ruby-actionmailbox: an application whose SendGrid ingress takes the raw mode
# of a running host. Takes the password of the ingress; prints the port first, then a line of JSON for each mail.

require "json"
require "rails"
require "active_record/railtie"
require "active_storage/engine"
require "action_mailbox/engine"
require "rack/handler/webrick"
require "tmpdir"

$stdout.sync = true
PASSWORD = ARGV.fetch(0)
FOLDER = Dir.mktmpdir("posthaste-rails-")
at_exit { FileUtils.remove_entry(FOLDER) }
ENV["DATABASE_URL"] = "sqlite3:#{FOLDER}/mail.sqlite3"
ENV["RAILS_INBOUND_EMAIL_PASSWORD"] = PASSWORD

class Site < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false
  config.root = FOLDER
  config.secret_key_base = "of a test"
  config.hosts.clear
  config.logger = Logger.new($stderr)
  config.log_level = :error
  config.active_storage.service = :local
  config.active_storage.service_configurations = { local: { service: "Disk", root: FOLDER } }
  config.action_mailbox.ingress = :sendgrid
  # The inline queue below runs no job later.
  config.action_mailbox.incinerate = false
  config.active_job.queue_adapter = :inline
end

class ApplicationMailbox < ActionMailbox::Base
  routing all: :tell
end

class TellMailbox < ApplicationMailbox
  def process
    text = mail.text_part || mail
    puts({ subject: mail.subject, from: mail.from, references: Array(mail.references), text: text.decoded,
           files: mail.attachments.map { |file| [file.filename, file.decoded] }, to: mail.recipients }.to_json)
  end
end

Site.initialize!
ActiveRecord::Schema.verbose = false
ActiveRecord::MigrationContext.new(
  %w[activestorage actionmailbox].map { |gem| Gem.loaded_specs[gem]&.full_gem_path || "/usr/share/rails-#{gem}" }
    .map { |folder| "#{folder}/db/migrate" },
  ActiveRecord::SchemaMigration
).migrate

server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: 0, AccessLog: [], Logger: WEBrick::Log.new(File::NULL))
server.mount("/", Rack::Handler::WEBrick, Rails.application)
%w[TERM INT].each { |signal| trap(signal) { server.shutdown } }
puts server.listeners.first.addr[1]
server.start
