import { listInBucket } from '../../../areas/upkeep/backup/bucket/keep.js'
import * as store from '../../../areas/upkeep/backup/store.js'
import { bytesText } from '../../../lib/bytes.js'
import { BaseCommand } from '../../framework/base.js'
import { pathFlag } from '../../input/path-flag.js'
import { table } from '../../output/table.js'

const placeOf = ({ path }: store.BackupRecord): string => (path.startsWith('s3://') ? 's3' : 'folder')

export default class BackupList extends BaseCommand {
  static override summary = 'List finished backups, oldest first'
  static override description =
    'Damaged backups, which cannot be restored, are marked with the reason. With --json: {backups, damaged}.'
  static override examples = ['<%= config.bin %> backup list', '<%= config.bin %> backup list --to /mnt/backups --json']
  static override flags = {
    to: pathFlag({ description: 'the folder that holds the backups (default: HOME/backups)' })
  }

  async run() {
    const { flags } = await this.parse(BackupList)
    this.configure(flags)
    const kept = flags.to === undefined ? await listInBucket() : { backups: [], damaged: [] }
    if (kept.backups.length === 0) store.requireStore(flags.to)
    const backups = [...store.listBackups(flags.to), ...kept.backups]
    const damaged = [...store.damagedBackups(flags.to), ...kept.damaged]
    this.log(
      table(backups, [
        ['ID', backup => backup.id],
        ['CREATED', backup => new Date(backup.created_at)],
        ['PROJECTS', backup => backup.projects],
        ['FILES', backup => backup.files],
        ['SIZE', backup => bytesText(backup.bytes)],
        ['NEW', backup => bytesText(backup.new_bytes)],
        ['SECRETS', backup => backup.secrets],
        ...(kept.backups.length > 0 ? [['PLACE', placeOf] as const] : [])
      ])
    )
    for (const { id, problem } of damaged) this.log(`${id}  DAMAGED: ${problem}`)
    return { backups, damaged }
  }
}
