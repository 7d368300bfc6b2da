import * as rules from '../../../areas/ground/settings/settings.js'
import { settingsOfYaml } from '../../../areas/ground/settings/settings.text.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { readTextFile } from '../../input/text-file.js'
import { Flags } from '../../oclif.js'
import * as lines from '../../output/setting-changes.js'

export default class SettingsApply extends BaseCommand {
  static override summary = 'Set application settings from a file, either all of them or none'
  static override description =
    'Settings that are not in the file do not change. If a key is not a setting, or a value has the wrong type, the whole file is refused. Applying the same file again changes nothing. With --json: {changes, dry_run}, each change {name, from, to}.'
  static override examples = [
    '<%= config.bin %> settings apply -f settings.yaml --dry-run',
    '<%= config.bin %> settings apply -f settings.yaml --json',
    'echo "default_projects_limit: 25" | <%= config.bin %> settings apply -f -'
  ]
  static override flags = {
    file: Flags.string({
      char: 'f',
      required: true,
      description: 'a YAML file with a line NAME: VALUE for each setting; - reads standard input'
    }),
    'dry-run': Flags.boolean({ description: 'show what would change, and change nothing' })
  }

  async run() {
    const { flags } = await this.parse(SettingsApply)
    this.configure(flags)
    const body = settingsOfYaml(await readTextFile('--file', flags.file, lines.SETTINGS_FILE_LIMIT), flags.file)
    const dryRun = flags['dry-run'] === true
    const found = await withDatabase(
      async () => (dryRun ? rules.settingsChanges(body) : (await rules.updateSettings(body, commandOrigin())).changes),
      { makes: !dryRun }
    )
    const changes = lines.changeList(found)
    for (const change of changes) this.log(`${dryRun ? 'would change' : 'changed'} ${lines.changeLine(change)}`)
    if (changes.length === 0) this.log('nothing to change')
    return { changes, dry_run: dryRun }
  }
}
