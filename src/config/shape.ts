// Every key of the configuration, with the rule for its value.
import { flag, integer, listOf, nullOr, number, oneOf, text } from '../lib/rules.js'
import { IDENTITY } from './identity.js'

/** The names of storages. Commands add some that are not in the configuration. */
export const STORAGE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/
export const STORAGE_NAME_MEANING = 'a name of lower-case letters, digits, - and _'
const name = text(STORAGE_NAME, STORAGE_NAME_MEANING)

const path = text(/^\//, 'the absolute path of a file')

/** Seconds: 23 days. A timer of Node.js treats a time of more than 24 days as one millisecond. */
const LONGEST = 2_000_000
/** Until a century. Younger records may still be needed, such as by a job that is retried. */
const archiveDays = nullOr(integer(30, 36_525))
const seconds = (least: number) => integer(least, LONGEST)

/** An address, on its own or after a name. */
const sender = text(
  /^([^\p{Cc}<>]*<[^\s\p{Cc}@<>,;"]+@[^\s\p{Cc}@<>,;"]+>|[^\s\p{Cc}@<>,;"]+@[^\s\p{Cc}@<>,;"]+)$/u,
  'an address such as git@example.org or Gitstead <git@example.org>'
)

/** The token that makes the address of a reply has up to 43 characters, and the part before the @ at most 64. */
const incoming = text(
  /^[a-z0-9_.-]{1,20}\+@[a-z0-9]([a-z0-9.-]{0,190}[a-z0-9])?$/i,
  'an address with a + before the @, such as reply+@git.example.org, with at most 20 characters before the +'
)

/** The first storage.s3 was artifacts.s3, which still works. */
const bucket = {
  bucket: nullOr(text(/^[a-zA-Z0-9][a-zA-Z0-9._-]{2,254}$/, 'the name of a bucket')),
  region: text(/^[a-z0-9-]+$/, 'a region'),
  endpoint: nullOr(text(/^https?:\/\/[^/?#]+\/?$/, 'an http or https URL without a path')),
  path_style: flag,
  prefix: text(/^([\w.-]+\/)*$/, 'empty, or names that each end with /'),
  access_key_id: nullOr(text()),
  secret_access_key: nullOr(text()),
  timeout: seconds(1)
}
const place = nullOr(oneOf<'s3' | 'folder'>(['s3', 'folder']))

export const SETTINGS = {
  host: text(/^\S+$/, 'an address'),
  port: integer(0, 65535),
  trusted_proxies: listOf(text()),
  url: nullOr(text(/^https?:\/\/[^/?#]+(\/[^?#]*)?$/, 'an http or https URL')),
  api: { system_hook_as_object: flag },
  http: {
    requests_per_address: integer(1),
    body_timeout: seconds(1),
    body_memory: integer(2_097_152),
    cors_origins: listOf(text(/^(\*|https?:\/\/[a-z0-9.:[\]_-]+)$/, '* or origins such as https://app.example.org'))
  },
  ssh: {
    enabled: flag,
    host: nullOr(text(/^\S+$/, 'an address')),
    port: nullOr(integer(0, 65535)),
    public_host: nullOr(text(/^[a-zA-Z0-9.:[\]_-]+$/, 'a host name or an address')),
    public_port: nullOr(integer(1, 65535)),
    max_connections: integer(1),
    connections_per_address: integer(1),
    commands_per_client: integer(1),
    login_timeout: seconds(1),
    idle_timeout: seconds(1)
  },
  paths: { reserved_days: integer(0) },
  log: {
    level: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    requests: oneOf(['off', 'errors', 'all'])
  },
  metrics: { allow: listOf(text()) },
  database: {
    url: nullOr(text(/^mysql:\/\//, 'a URL such as mysql://USER:PASSWORD@HOST/NAME')),
    pool: integer(1),
    cache: nullOr(integer(8_388_608)),
    timeout: number(0.5, LONGEST),
    long_timeout: number(1, LONGEST),
    read_url: nullOr(text(/^mysql:\/\//, 'a URL such as mysql://USER:PASSWORD@HOST/NAME')),
    read_lag: integer(1, 60)
  },
  cluster: { address: nullOr(text(/^https?:\/\/[^\s/?#@]{1,240}$/, 'an http or https URL without a path')) },
  repositories: { storages: listOf(name, 1) },
  git: {
    max_processes: integer(1),
    max_processes_per_repository: integer(1),
    max_waiting: integer(0),
    timeout: seconds(1),
    memory_limit: integer(134_217_728),
    memory: integer(0),
    processor_limit: integer(1),
    max_readers: integer(1),
    object_cache: nullOr(integer(1_048_576)),
    max_push_size: integer(1),
    max_push_objects: integer(1),
    max_fetch_request: integer(65_536),
    stall: seconds(1),
    max_spooled: integer(0),
    answer_cache: integer(0),
    archive_cache: integer(0),
    max_file_size: integer(1)
  },
  stop_timeout: seconds(1),
  queue: {
    concurrency: {
      default: integer(0),
      hooks: integer(0),
      builds: integer(0),
      mail: integer(0),
      maintenance: integer(0),
      imports: integer(0),
      mirrors: integer(0)
    },
    poll_interval: number(0.05, LONGEST),
    lease: seconds(3)
  },
  runner: {
    executor: oneOf(['sandbox', 'docker']),
    sandbox: oneOf(['bubblewrap', 'none']),
    user: text(/^[a-z_][a-z0-9_-]*$/, 'the name of a user'),
    network: flag,
    timeout: integer(1),
    output_limit: integer(1024),
    memory_limit: integer(16_777_216),
    disk_limit: integer(16_777_216),
    process_limit: integer(8),
    file_limit: integer(1_048_576),
    depth: integer(0),
    project_limit: integer(0),
    long_poll: integer(0, 50),
    cache_limit: integer(0),
    cache_project_limit: integer(0),
    docker: {
      socket: text(
        /^(unix:\/\/\/\S+|tcp:\/\/[^\s/?#@]+:\d{1,5})$/,
        'unix:///PATH of a socket, or tcp://HOST:PORT of an engine with TLS'
      ),
      tls: { ca: nullOr(path), cert: nullOr(path), key: nullOr(path) },
      timeout: seconds(1),
      image: text(/^[\w.:/@-]+$/, 'the name of an image such as debian:12'),
      allowed_images: listOf(text(/^[\w.:/@*?-]+$/, 'a pattern such as ruby:* or registry.example.org/**')),
      pull: oneOf(['always', 'if-not-present', 'never']),
      pull_timeout: seconds(1),
      cpus: number(0),
      disk_quota: flag,
      max_services: integer(0, 20),
      service_memory_limit: integer(16_777_216),
      service_timeout: seconds(0)
    }
  },
  artifacts: {
    max_size: integer(1),
    s3: bucket
  },
  hooks: { allow: listOf(text()), timeout: seconds(1), response_limit: integer(0) },
  imports: { max_size: integer(1), max_objects: integer(1), timeout: seconds(1), max_build_files: integer(0) },
  uploads: { max_files: integer(0), max_size: integer(0), bucket: flag },
  lfs: {
    max_object_size: integer(0),
    max_project_size: integer(0),
    timeout: seconds(1),
    token_expire: integer(60, 86_400),
    keep_days: integer(1, 10_000)
  },
  mail: {
    transport: oneOf(['file', 'smtp', 'sendmail']),
    from: nullOr(sender),
    reply_to: nullOr(sender),
    incoming: nullOr(incoming),
    per_hour: integer(1),
    smtp: {
      host: text(/^\S+$/, 'a host name or an address'),
      port: integer(1, 65535),
      tls: oneOf(['none', 'starttls', 'starttls-required', 'tls']),
      verify_tls: flag,
      user: text(/^\P{Cc}*$/u, 'text on one line'),
      password: text(/^\P{Cc}*$/u, 'text on one line'),
      timeout: seconds(1),
      send_timeout: seconds(1)
    },
    sendmail: { path: text(/^\//, 'the absolute path of a program') },
    file: { max_files: integer(1), max_age: integer(1) }
  },
  archive: { builds: archiveDays, events: archiveDays, deliveries: archiveDays },
  session: { expire: integer(60) },
  storage: {
    artifacts: place,
    traces: place,
    uploads: place,
    lfs: place,
    caches: place,
    archives: place,
    records: place,
    backups: place,
    growing_traces: oneOf(['folder', 'database']),
    s3: {
      ...bucket,
      connections: integer(4, 4096),
      direct_downloads: flag,
      direct_seconds: integer(10, 3600),
      direct_uploads: flag,
      public_endpoint: nullOr(text(/^https?:\/\/[^/?#]+\/?$/, 'an http or https URL without a path'))
    }
  },
  oauth: { token_expire: integer(0) },
  identity: IDENTITY
}
