import * as rules from '../../../areas/ground/settings/settings.js'
import { settingsOfYaml } from '../../../areas/ground/settings/settings.text.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { readTextFile } from '../../input/text-file.js'
import { Flags } from '../../oclif.js'
import * as lines from '../../output/setting-changes.js'

export default class SettingsDiff extends BaseCommand {
  static override summary = 'Show which application settings differ from their defaults, or what a file would change'
  static override description =
    'As with diff, the exit code is 0 if nothing differs, and 1 otherwise. With --json: {changes}, each {name, from, to}: from the default to the current value, or from the current value to that of the file.'
  static override examples = [
    '<%= config.bin %> settings diff',
    '<%= config.bin %> settings diff -f settings.yaml',
    'ssh root@old.example.org cat settings.yaml | <%= config.bin %> settings diff -f - --json'
  ]
  static override flags = {
    file: Flags.string({
      char: 'f',
      description: 'compare with a YAML file that has a line NAME: VALUE for each setting; - reads standard input'
    })
  }

  async run() {
    const { flags } = await this.parse(SettingsDiff)
    this.configure(flags)
    const { file } = flags
    const body =
      file === undefined
        ? undefined
        : settingsOfYaml(await readTextFile('--file', file, lines.SETTINGS_FILE_LIMIT), file)
    const found = await withDatabase(() => (body ? rules.settingsChanges(body) : rules.changedSettings()))
    const changes = lines.changeList(found)
    for (const change of changes) this.log(lines.changeLine(change))
    if (changes.length > 0) process.exitCode = 1
    return { changes }
  }
}
