import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class SettingsApply extends BaseCommand {
  static override summary = 'Change application settings to those of a file; all of it, or none'
  static override description =
    'Settings that the file does not name stay as they are. A key that is no setting, or a value of another type, refuses the whole file. Applied twice it changes nothing more. With --json: {changes, dry_run}, each change {name, from, to}.'
  static override examples = [
    '<%= config.bin %> settings apply -f settings.yaml --dry-run',
    '<%= config.bin %> settings apply -f settings.yaml --json',
    'echo "default_projects_limit: 25" | <%= config.bin %> settings apply -f -'
  ]
  static override flags = {
    file: Flags.string({
      char: 'f',
      required: true,
      description: 'settings in YAML, as NAME: VALUE; - is standard input'
    }),
    'dry-run': Flags.boolean({ description: 'show the change and make none' })
  }

  async run() {
    const { flags } = await this.parse(SettingsApply)
    this.configure(flags)
    const [{ withDatabase }, { commandOrigin }, { settingsOfYaml }, rules, lines, { readTextFile }] = await Promise.all(
      [
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/settings/settings.text.js'),
        import('../../../areas/settings/settings.js'),
        import('../../setting-changes.js'),
        import('../../text-file.js')
      ]
    )
    const body = settingsOfYaml(await readTextFile('--file', flags.file, lines.SETTINGS_FILE_LIMIT), flags.file)
    const dryRun = flags['dry-run'] === true
    const found = await withDatabase(async () =>
      dryRun ? rules.settingsChanges(body) : (await rules.updateSettings(body, commandOrigin())).changes
    )
    const changes = lines.changeList(found)
    for (const change of changes) this.log(`${dryRun ? 'would change' : 'changed'} ${lines.changeLine(change)}`)
    if (changes.length === 0) this.log('nothing to change')
    return { changes, dry_run: dryRun }
  }
}
