import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base.js'

export default class BackupList extends BaseCommand {
  static override summary = 'List finished backups, oldest first'
  static override examples = ['<%= config.bin %> backup list', '<%= config.bin %> backup list --to /mnt/backups --json']
  static override flags = {
    to: Flags.string({ description: 'the folder that holds the backups (default: HOME/backups)' })
  }

  async run() {
    const { flags } = await this.parse(BackupList)
    this.configure(flags)
    const [{ listBackups, defaultStore }, { table }, { bytesText }] = await Promise.all([
      import('../../../areas/backup/store.js'),
      import('../../table.js'),
      import('../../../lib/bytes.js')
    ])
    const backups = listBackups(flags.to ?? defaultStore())
    this.log(
      table(backups, [
        ['ID', backup => backup.id],
        ['CREATED', backup => new Date(backup.created_at)],
        ['PROJECTS', backup => backup.projects],
        ['FILES', backup => backup.files],
        ['SIZE', backup => bytesText(backup.bytes)],
        ['NEW', backup => bytesText(backup.new_bytes)],
        ['SECRETS', backup => backup.secrets]
      ])
    )
    return { backups }
  }
}
