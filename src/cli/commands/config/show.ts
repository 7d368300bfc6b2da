import { reportConfig } from '../../../config.js'
import { withoutPasswords } from '../../../lib/rules.js'
import { BaseCommand } from '../../framework/base.js'
import { table } from '../../output/table.js'

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
      value:
        /(secret_access_key|\.password)$/.test(key) && value !== null
          ? 'redacted'
          : (JSON.parse(withoutPasswords(JSON.stringify(value))) as unknown),
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
