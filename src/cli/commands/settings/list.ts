import { BaseCommand } from '../../base.js'
import { Flags } from '../../oclif.js'

export default class SettingsList extends BaseCommand {
  static override summary = 'List the application settings with their defaults'
  static override description =
    'With --json: {settings}, each {name, value, default, changed, type, meaning, enforced}; enforced is null for a setting that is only stored and shown.'
  static override examples = [
    '<%= config.bin %> settings list',
    '<%= config.bin %> settings list --changed',
    '<%= config.bin %> settings list --json'
  ]
  static override flags = {
    changed: Flags.boolean({ description: 'only settings that differ from their defaults' })
  }

  async run() {
    const { flags } = await this.parse(SettingsList)
    this.configure(flags)
    const [{ withDatabase }, { settingsRecord }, { viewSetting }, { SETTING_NAMES }, { table }, { valueText }] =
      await Promise.all([
        import('../../with-database.js'),
        import('../../../areas/settings/settings.queries.js'),
        import('../../../areas/settings/settings.view.js'),
        import('../../../areas/settings/settings.table.js'),
        import('../../table.js'),
        import('../../setting-changes.js')
      ])
    const record = await withDatabase(() => settingsRecord())
    const settings = SETTING_NAMES.map(name => viewSetting(record, name)).filter(
      ({ changed }) => changed || !flags.changed
    )
    this.log(
      table(settings, [
        ['SETTING', setting => setting.name],
        ['VALUE', setting => valueText(setting.value)],
        ['DEFAULT', setting => valueText(setting.default)],
        ['CHANGED', setting => setting.changed]
      ])
    )
    return { settings }
  }
}
