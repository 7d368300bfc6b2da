import { settingsRecord } from '../../../areas/ground/settings/settings.queries.js'
import { SETTING_NAMES } from '../../../areas/ground/settings/settings.table.js'
import { viewSetting } from '../../../areas/ground/settings/settings.view.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { Flags } from '../../oclif.js'
import { valueText } from '../../output/setting-changes.js'
import { table } from '../../output/table.js'

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
