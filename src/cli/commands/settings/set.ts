import { updateSettings } from '../../../areas/ground/settings/settings.js'
import { SETTING_NAMES, settingOf } from '../../../areas/ground/settings/settings.table.js'
import { settingsOfWords } from '../../../areas/ground/settings/settings.text.js'
import { viewSettings } from '../../../areas/ground/settings/settings.view.js'
import { typeOf } from '../../../areas/ground/settings/settings.words.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'
import * as lines from '../../output/setting-changes.js'

// Only the help of this command lists all settings. oclif reads it from the manifest.
const NAMES = SETTING_NAMES.map(name => `${name}: ${settingOf(name).meaning} (${typeOf(name)})`)

export default class SettingsSet extends BaseCommand {
  static override summary = 'Change application settings, either all given ones or none'
  static override description =
    `Write one setting as NAME VALUE, or any number of settings as NAME=VALUE. A switch is true or false, a list has commas or is JSON, and null removes the value. A setting with its default value counts as unchanged. Every server and worker uses the new values at once. With --json: all settings as in GET /application/settings.

${NAMES.join('\n')}`
  static override examples = [
    '<%= config.bin %> settings set default_projects_limit 25',
    '<%= config.bin %> settings set signin_enabled=false restricted_visibility_levels=1,2 --json',
    '<%= config.bin %> settings set sign_in_text "Accounts: ask admins@example.org"',
    '<%= config.bin %> settings set home_page_url null'
  ]
  static override strict = false
  static override args = {
    setting: Args.string({ required: true, description: 'NAME=VALUE, or the name followed by its value' })
  }

  async run() {
    const { flags, argv } = await this.parse(SettingsSet)
    this.configure(flags)
    const body = settingsOfWords(this.pairsOf(argv.map(String)))
    const { record, changes } = await withDatabase(() => updateSettings(body, commandOrigin()), { makes: true })
    const changed = lines.changeList(changes)
    this.log(changed.length > 0 ? changed.map(lines.changeLine).join('\n') : 'nothing changed')
    return viewSettings(record)
  }

  private pairsOf(words: readonly string[]): [string, string][] {
    const [name = '', value] = words
    if (words.length === 2 && value !== undefined && !name.includes('=')) return [[name, value]]
    return words.map(word => {
      const at = word.indexOf('=')
      if (at < 1) this.error(`write settings as NAME=VALUE, or one setting as NAME VALUE (not ${word})`, { exit: 2 })
      return [word.slice(0, at), word.slice(at + 1)]
    })
  }
}
