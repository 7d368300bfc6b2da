import { fetchBackup } from '../../../areas/upkeep/backup/bucket/fetch.js'
import { bytesText } from '../../../lib/bytes.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { progressLine } from '../../framework/progress.js'
import { endedBySignals } from '../../framework/signals.js'
import { pathFlag } from '../../input/path-flag.js'
import { Args } from '../../oclif.js'

export default class BackupFetch extends BaseCommand {
  static override summary = 'Fetch a backup from the bucket into a folder'
  static override description =
    'Compares every file with its hash. Then verify, restore and restore --project work with the folder. No database is needed, and no ' +
    'home: without one, give the bucket by variables such as GITSTEAD_STORAGE_S3_BUCKET, and GITSTEAD_STORAGE_BACKUPS=s3.'
  static override examples = [
    '<%= config.bin %> backup fetch latest --to /mnt/backups',
    '<%= config.bin %> backup fetch 20261121T020000Z-3f9a --to /mnt/backups --json'
  ]
  static override args = {
    backup: Args.string({ required: true, description: 'the id of the backup, or latest' })
  }
  static override flags = {
    to: pathFlag({ description: 'the folder that holds the backups (default: HOME/backups)' })
  }

  async run() {
    const { args, flags } = await this.parse(BackupFetch)
    this.configure(flags)
    const line = progressLine()
    const options = {
      ...(flags.to === undefined ? {} : { to: flags.to }),
      progress: (done: number, total: number) => line.show('fetch', done, total)
    }
    const backup = await endedBySignals(signal => fetchBackup(args.backup, { ...options, signal })).finally(line.end)
    this.log(`${backup.id}: ${counted(backup.files, 'file')}, ${bytesText(backup.bytes)}\n${backup.path}`)
    return backup
  }
}
