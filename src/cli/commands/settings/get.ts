import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class SettingsGet extends BaseCommand {
  static override summary = 'Print the value of an application setting'
  static override description =
    'It prints a text as it is and any other value as JSON. With --json: {name, value, default, changed, type, meaning, enforced}.'
  static override examples = [
    '<%= config.bin %> settings get default_projects_limit',
    '<%= config.bin %> settings get restricted_visibility_levels --json'
  ]
  static override args = { name: Args.string({ required: true, description: 'the name of the setting' }) }

  async run() {
    const { flags, args } = await this.parse(SettingsGet)
    this.configure(flags)
    const [{ withDatabase }, { settingsRecord }, { viewSetting }, { isSettingName }, { NotFound }] = await Promise.all([
      import('../../with-database.js'),
      import('../../../areas/settings/settings.queries.js'),
      import('../../../areas/settings/settings.view.js'),
      import('../../../areas/settings/settings.table.js'),
      import('../../../errors.js')
    ])
    const { name } = args
    if (!isSettingName(name)) throw new NotFound(`Setting ${name}`)
    const setting = viewSetting(await withDatabase(() => settingsRecord()), name)
    this.log(typeof setting.value === 'string' ? setting.value : JSON.stringify(setting.value))
    return setting
  }
}
