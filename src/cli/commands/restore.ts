import { Args, Flags } from '@oclif/core'
import { BaseCommand, type FlagsOf } from '../base.js'

type FoundBackup = ReturnType<typeof import('../../areas/backup/store.js').findBackup>

export default class Restore extends BaseCommand {
  static override summary = 'Restore a backup into a new home, or one project of it into this one'
  static override description =
    'With --into: makes a whole home of the backup in an empty folder; `gitstead up --home` starts on it. With --project: ' +
    'gives refs that are gone back to a project, with --overwrite also those that have moved; a project that was ' +
    'removed comes back with its members, pipelines and builds. The appliance may run.'
  static override examples = [
    '<%= config.bin %> restore latest --into /srv/gitstead --secrets /root/gitstead-secrets.json',
    '<%= config.bin %> restore /mnt/backups/20261121T020000Z-3f9a --into /tmp/drill --pause-jobs --json',
    '<%= config.bin %> restore latest --project ada/engine --overwrite --dry-run'
  ]
  static override args = { backup: Args.string({ required: true, description: 'id, folder, or latest' }) }
  static override flags = {
    into: Flags.string({
      description: 'the new home: a folder that is empty or not there yet',
      exclusive: ['project']
    }),
    project: Flags.string({ description: 'NAMESPACE/PROJECT, or its number, of the backup' }),
    overwrite: Flags.boolean({ description: 'move refs back that have another value by now', dependsOn: ['project'] }),
    to: Flags.string({ description: 'the folder of backups; HOME/backups unless named' }),
    secrets: Flags.string({ description: 'file of secrets, where the backup holds none' }),
    'pause-jobs': Flags.boolean({ description: 'pause all queues: a copy for a drill sends no hooks and no mail' }),
    'dry-run': Flags.boolean({ description: 'only check whether it could be done' })
  }

  async run() {
    const { flags, args } = await this.parse(Restore)
    this.configure(flags)
    const { findBackup } = await import('../../areas/backup/store.js')
    const { into, project } = flags
    if (into !== undefined) return this.whole(findBackup(args.backup, flags.to), into, flags)
    if (project !== undefined) return this.one(findBackup(args.backup, flags.to), project, flags)
    return this.error('name a new home by --into, or a project by --project', { exit: 2 })
  }

  private async one(backup: FoundBackup, name: string, flags: FlagsOf<typeof Restore>) {
    const [{ withDatabase }, { restoreProject }, { commandOrigin }] = await Promise.all([
      import('../with-database.js'),
      import('../../areas/backup/restore-project.js'),
      import('../origin.js')
    ])
    const options = { overwrite: flags.overwrite, dryRun: flags['dry-run'] }
    const restored = await withDatabase(() => restoreProject(backup, name, options, commandOrigin()))
    const would = restored.dry_run ? 'would ' : ''
    if (restored.recreated) this.log(`${would}make ${restored.path_with_namespace} (id ${restored.id}) again`)
    for (const { ref, before, after } of restored.moved) this.log(`${would}move ${ref} ${before ?? 'nothing'} ${after}`)
    for (const ref of restored.kept) this.log(`keep ${ref}: it has another value by now (--overwrite moves it)`)
    if (!restored.recreated && restored.moved.length + restored.kept.length === 0) {
      this.log(`nothing to do: ${restored.path_with_namespace} has every ref of the backup`)
    }
    return restored.dry_run ? { would_restore: restored } : restored
  }

  private async whole(backup: FoundBackup, into: string, flags: FlagsOf<typeof Restore>) {
    const [{ checkRestore, restoreHome }, { viewBackup }, { commandOrigin }, { progressLine }] = await Promise.all([
      import('../../areas/backup/restore-home.js'),
      import('../../areas/backup/store.js'),
      import('../origin.js'),
      import('../progress.js')
    ])
    const line = progressLine()
    const options = {
      into,
      ...(flags.secrets === undefined ? {} : { secretsFile: flags.secrets }),
      pauseJobs: flags['pause-jobs'],
      progress: (done: number, total: number) => line.show('restore', done, total)
    }
    if (flags['dry-run']) {
      await checkRestore(backup, options)
      const record = viewBackup(backup.folder, backup.manifest)
      this.log(`would restore ${record.id} with ${record.projects} projects into ${into}`)
      return { would_restore: record, into }
    }
    const restored = await restoreHome(backup, options, commandOrigin()).finally(line.end)
    this.log(
      `restored ${restored.backup} into ${restored.home}: ${restored.projects} projects, ${restored.repositories} ` +
        `repositories, ${restored.files} files`
    )
    return restored
  }
}
