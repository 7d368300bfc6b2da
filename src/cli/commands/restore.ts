import { Args, Flags } from '@oclif/core'
import { BaseCommand, type FlagsOf } from '../base.js'

export default class Restore extends BaseCommand {
  static override summary = 'Restore a backup into a new home'
  static override description =
    'Makes a whole home of the backup in an empty folder; `gitstead up --home` starts on it.'
  static override examples = [
    '<%= config.bin %> restore latest --into /srv/gitstead --secrets /root/gitstead-secrets.json',
    '<%= config.bin %> restore /mnt/backups/20261121T020000Z-3f9a --into /tmp/drill --pause-jobs --json'
  ]
  static override args = { backup: Args.string({ required: true, description: 'id, folder, or latest' }) }
  static override flags = {
    into: Flags.string({ description: 'the new home: a folder that is empty or not there yet', required: true }),
    to: Flags.string({ description: 'the folder of backups; HOME/backups unless named' }),
    secrets: Flags.string({ description: 'file of secrets, where the backup holds none' }),
    'pause-jobs': Flags.boolean({ description: 'pause all queues: a copy for a drill sends no hooks and no mail' }),
    'dry-run': Flags.boolean({ description: 'only check whether it could be done' })
  }

  async run() {
    const { flags, args } = await this.parse(Restore)
    this.configure(flags)
    const { findBackup } = await import('../../areas/backup/store.js')
    return this.whole(findBackup(args.backup, flags.to), flags)
  }

  private async whole(
    backup: ReturnType<typeof import('../../areas/backup/store.js').findBackup>,
    flags: FlagsOf<typeof Restore>
  ) {
    const [{ checkRestore, restoreHome }, { viewBackup }, { commandOrigin }, { progressLine }] = await Promise.all([
      import('../../areas/backup/restore-home.js'),
      import('../../areas/backup/store.js'),
      import('../origin.js'),
      import('../progress.js')
    ])
    const line = progressLine()
    const options = {
      into: flags.into,
      ...(flags.secrets === undefined ? {} : { secretsFile: flags.secrets }),
      pauseJobs: flags['pause-jobs'],
      progress: (done: number, total: number) => line.show('restore', done, total)
    }
    if (flags['dry-run']) {
      await checkRestore(backup, options)
      const record = viewBackup(backup.folder, backup.manifest)
      this.log(`would restore ${record.id} with ${record.projects} projects into ${flags.into}`)
      return { would_restore: record, into: flags.into }
    }
    const restored = await restoreHome(backup, options, commandOrigin()).finally(line.end)
    this.log(
      `restored ${restored.backup} into ${restored.home}: ${restored.projects} projects, ${restored.repositories} ` +
        `repositories, ${restored.files} files`
    )
    return restored
  }
}
