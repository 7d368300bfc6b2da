// Picks what a support bundle shows of the configuration: numbers, switches, and texts of known settings.
import { reportConfig } from '../../config.js'
import { isSecret } from './scrub.js'

/** Settings whose text says how the appliance works. Addresses of people, keys and certificates are not among them. */
const SHOWN: ReadonlySet<string> = new Set([
  'host',
  'url',
  'trusted_proxies',
  'ssh.host',
  'ssh.public_host',
  'log.level',
  'log.requests',
  'metrics.allow',
  'repositories.storages',
  'runner.executor',
  'runner.sandbox',
  'runner.user',
  'runner.docker.socket',
  'runner.docker.image',
  'runner.docker.allowed_images',
  'runner.docker.pull',
  'artifacts.s3.region',
  'artifacts.s3.endpoint',
  'hooks.allow',
  'mail.transport',
  'mail.smtp.host',
  'mail.smtp.tls',
  'mail.sendmail.path',
  'storage.artifacts',
  'storage.traces',
  'storage.uploads',
  'storage.caches',
  'storage.archives',
  'storage.records',
  'storage.backups',
  'storage.growing_traces',
  'storage.s3.region',
  'storage.s3.endpoint'
])

export interface PickedSetting {
  readonly key: string
  /** `(set)` stands for a value that the bundle does not show. */
  readonly value: unknown
  readonly origin: string
}

export function pickSettings(home: string, scrub: (text: string) => string): PickedSetting[] {
  return reportConfig({ home }).settings.map(({ key, value, origin }) => {
    const isPlain = value === null || typeof value === 'number' || typeof value === 'boolean'
    if (isPlain && !isSecret(key)) return { key, value, origin }
    const shown: unknown = SHOWN.has(key) ? JSON.parse(scrub(JSON.stringify(value))) : '(set)'
    return { key, value: value === null || value === '' ? value : shown, origin }
  })
}
