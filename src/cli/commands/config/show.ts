import { reportConfig } from '../../../config.js'
import { isSecret, withoutPasswords } from '../../../lib/rules.js'
import { BaseCommand } from '../../framework/base.js'
import { table } from '../../output/table.js'

/** Hides secrets, also in entries that the operator has named. */
function redacted(key: string, value: unknown): unknown {
  const text = JSON.stringify({ [key]: value }, (name, inner: unknown) =>
    isSecret(name) && inner !== null && typeof inner !== 'object' ? 'redacted' : inner
  )
  return (JSON.parse(withoutPasswords(text)) as Record<string, unknown>)[key]
}

export default class ConfigShow extends BaseCommand {
  static override summary = 'Show the effective configuration, and where each value comes from'
  static override description =
    "The origin is default, file (the home's config.yaml), environment or flag. Passwords in URLs are hidden. With --json: {home, file, settings: [{key, value, origin}]}."
  static override examples = [
    '<%= config.bin %> config show',
    '<%= config.bin %> config show --json | jq \'.settings[] | select(.origin != "default")\''
  ]

  async run() {
    const { flags } = await this.parse(ConfigShow)
    this.configure(flags)
    const { home, file, settings } = reportConfig({ home: flags.home })
    const shown = settings.map(({ key, value, origin }) => ({
      key,
      value: redacted(key, value),
      origin
    }))
    this.log(`home: ${home}\n`)
    this.log(
      table(shown, [
        ['KEY', setting => setting.key],
        ['VALUE', setting => (typeof setting.value === 'string' ? setting.value : JSON.stringify(setting.value))],
        ['ORIGIN', setting => setting.origin]
      ])
    )
    return { home, file, settings: shown }
  }
}
