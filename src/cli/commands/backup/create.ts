import { leftInBucket } from '../../../areas/upkeep/backup/copy-uploads.js'
import { createBackup, planBackup } from '../../../areas/upkeep/backup/create.js'
import { bytesText } from '../../../lib/bytes.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { commandOrigin } from '../../framework/origin.js'
import { progressLine } from '../../framework/progress.js'
import * as signals from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { pathFlag } from '../../input/path-flag.js'
import { Flags } from '../../oclif.js'

export default class BackupCreate extends BaseCommand {
  static override summary = 'Create a backup, also while the appliance runs'
  static override description =
    'Saves a consistent snapshot of the database, then repositories, traces and archives. Unchanged files are shared with the ' +
    'previous backup. Secrets are not included by default: keep them in another place. The exit code is 6 if another backup ' +
    'is being written. A signal cancels the backup and removes its files.'
  static override examples = [
    '<%= config.bin %> backup create --keep 14 --secrets-to /root/gitstead-secrets.json',
    '<%= config.bin %> backup create --to /mnt/backups --json',
    '<%= config.bin %> backup create --keep 3 --dry-run'
  ]
  static override flags = {
    to: pathFlag({ description: 'the folder that holds the backups (default: HOME/backups)' }),
    keep: Flags.integer({ min: 1, description: 'keep this many backups of this home, and delete the older ones' }),
    'secrets-to': pathFlag({
      description: 'write the secrets to a separate file (mode 0600)',
      exclusive: ['with-secrets']
    }),
    'with-secrets': Flags.boolean({
      description: 'include the secrets: anyone who has the backup can then read everything'
    }),
    full: Flags.boolean({ description: 'do not share files with the previous backup' }),
    'dry-run': Flags.boolean({ description: 'show what would be written and deleted, and change nothing' })
  }

  async run() {
    const { flags } = await this.parse(BackupCreate)
    this.configure(flags)
    const place = {
      ...(flags.to === undefined ? {} : { to: flags.to }),
      ...(flags['secrets-to'] === undefined ? {} : { secretsTo: flags['secrets-to'] }),
      full: flags.full
    }
    const keep = flags.keep === undefined ? {} : { keep: flags.keep }
    if (flags['dry-run']) {
      const plan = await withDatabase(() => planBackup({ ...place, ...keep }))
      this.log(
        `would write a backup of ${counted(plan.would_create.projects, 'project')} into ${plan.would_create.folder}`
      )
      for (const id of plan.would_delete) this.log(`would delete ${id}`)
      return plan
    }
    const line = progressLine()
    const options = {
      ...place,
      ...keep,
      withSecrets: flags['with-secrets'],
      progress: ({ phase, done, total, bytes }: { phase: string; done: number; total: number; bytes: number }) =>
        line.show(phase, done, total, bytesText(bytes))
    }
    const backup = await signals
      .endedBySignals(signal => withDatabase(() => createBackup({ ...options, signal }, commandOrigin())))
      .finally(line.end)
    this.log(
      `${backup.id}: ${counted(backup.repositories, 'repository', 'repositories')}, ${counted(backup.files, 'file')}, ${bytesText(backup.bytes)} ` +
        `(${bytesText(backup.new_bytes)} new)\n${backup.path}`
    )
    const left = leftInBucket()
    if (left !== null) this.log(left)
    for (const id of backup.deleted) this.log(`deleted ${id}`)
    for (const { project, fault } of backup.damaged) this.log(`DAMAGED ${project}: ${fault}`)
    if (backup.damaged.length > 0) {
      process.exitCode = ExitCode.failed
      this.log('no earlier backup was deleted: restore these projects from one of them (gitstead restore --project)')
    }
    return backup
  }
}
