import { settingsRecord } from '../../../areas/ground/settings/settings.queries.js'
import { isSettingName } from '../../../areas/ground/settings/settings.table.js'
import { viewSetting } from '../../../areas/ground/settings/settings.view.js'
import { NoSuch } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class SettingsGet extends BaseCommand {
  static override summary = 'Print the value of an application setting'
  static override description =
    'Prints text unchanged, and any other value as JSON. With --json: {name, value, default, changed, type, meaning, enforced}.'
  static override examples = [
    '<%= config.bin %> settings get default_projects_limit',
    '<%= config.bin %> settings get restricted_visibility_levels --json'
  ]
  static override strict = false
  static override args = {
    name: Args.string({ required: true, description: 'the name of the setting; you can give several' })
  }

  async run() {
    const { flags, argv } = await this.parse(SettingsGet)
    this.configure(flags)
    const record = await withDatabase(() => settingsRecord())
    return doEach(argv.map(String), this.jsonEnabled(), async name => {
      if (!isSettingName(name)) throw new NoSuch('setting', name)
      const setting = viewSetting(record, name)
      this.log(typeof setting.value === 'string' ? setting.value : JSON.stringify(setting.value))
      return setting
    })
  }
}
