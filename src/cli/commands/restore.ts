import { checkRestore, restoreHome } from '../../areas/upkeep/backup/restore-home.js'
import { restoreProject } from '../../areas/upkeep/backup/restore-project.js'
import { findBackup, viewBackup } from '../../areas/upkeep/backup/store.js'
import { counted } from '../../lib/counted.js'
import { BaseCommand, type FlagsOf } from '../framework/base.js'
import { confirm, requireAnswer } from '../framework/confirm.js'
import { ExitCode } from '../framework/failures.js'
import { commandOrigin } from '../framework/origin.js'
import { progressLine } from '../framework/progress.js'
import { endedBySignals } from '../framework/signals.js'
import { withDatabase } from '../framework/with-database.js'
import { pathFlag } from '../input/path-flag.js'
import { Args, Flags } from '../oclif.js'
import { printable } from '../output/table.js'

type FoundBackup = ReturnType<typeof import('../../areas/upkeep/backup/store.js').findBackup>

export default class Restore extends BaseCommand {
  static override summary = 'Restore a backup into a new home, or one project from it into this home'
  static override description =
    'With --into FOLDER, it restores the whole backup as a new home in an empty folder; start it with `gitstead up --home`. A ' +
    'restore that was killed can be run again. With --project, it restores refs, objects, traces, artifacts and uploads that ' +
    'the project has lost; --overwrite also moves changed refs back, after a confirmation (or --yes). A removed project is restored with its members, pipelines and ' +
    'builds; --into NAMESPACE puts it into another namespace. The appliance may keep running.'
  static override examples = [
    '<%= config.bin %> restore latest --into /srv/gitstead --secrets /root/gitstead-secrets.json',
    '<%= config.bin %> restore /mnt/backups/20261121T020000Z-3f9a --into /tmp/drill --pause-jobs --json',
    '<%= config.bin %> restore latest --project ada/engine --overwrite --dry-run',
    '<%= config.bin %> restore latest --project ada/engine --into bob'
  ]
  static override args = {
    backup: Args.string({ required: true, description: 'the backup: its id, its folder, or latest' })
  }
  static override flags = {
    into: pathFlag({
      description: 'the new home: an empty or new folder; with --project, the namespace for a removed project'
    }),
    project: Flags.string({ description: 'the project in the backup: NAMESPACE/PROJECT or its number' }),
    overwrite: Flags.boolean({
      description: 'also move back refs that have changed since the backup',
      dependsOn: ['project']
    }),
    to: pathFlag({ description: 'the folder that holds the backups (default: HOME/backups)' }),
    secrets: pathFlag({ description: 'the file with the secrets, if the backup does not contain them' }),
    'pause-jobs': Flags.boolean({
      description: 'pause all queues, so that a test restore sends no hooks and no mail'
    }),
    'dry-run': Flags.boolean({ description: 'show what would be restored, and change nothing', exclusive: ['yes'] }),
    yes: Flags.boolean({ description: 'move refs back without asking for confirmation', dependsOn: ['overwrite'] })
  }

  async run() {
    const { flags, args } = await this.parse(Restore)
    this.configure(flags)
    const { into, project } = flags
    if (project !== undefined) return this.one(findBackup(args.backup, flags.to), project, flags)
    if (into !== undefined) return this.whole(findBackup(args.backup, flags.to), into, flags)
    return this.error('specify a new home with --into, or a project with --project', { exit: 2 })
  }

  private async one(backup: FoundBackup, name: string, flags: FlagsOf<typeof Restore>) {
    const { overwrite, into } = flags
    const options = { overwrite, ...(into === undefined ? {} : { into }) }
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    const restore = (dryRun: boolean) => restoreProject(backup, name, { ...options, dryRun }, commandOrigin())
    if (overwrite && !flags['dry-run']) requireAnswer(how)
    const restored = await withDatabase(async () => {
      if (flags['dry-run']) return restore(true)
      const back = overwrite ? (await restore(true)).moved.filter(({ before }) => before !== null) : []
      if (back.length > 0) await confirm(back.map(({ ref, before }) => `to lose ${ref} ${before}`).join('\n'), how)
      return restore(false)
    })
    const would = restored.dry_run ? 'would ' : ''
    if (restored.recreated) this.log(`${would}recreate ${restored.path_with_namespace} (id ${restored.id})`)
    for (const { ref, before, after } of restored.moved) this.log(`${would}move ${ref} ${before ?? 'nothing'} ${after}`)
    for (const ref of restored.kept)
      this.log(`keep ${ref}: it has changed since the backup (--overwrite moves it back)`)
    if (restored.put_back > 0) this.log(`${would}restore ${restored.put_back} object files that were damaged or lost`)
    for (const fault of restored.left) this.log(`FAULT ${printable(fault)}`)
    if (restored.left.length > 0) {
      process.exitCode = ExitCode.failed
      this.log('this backup does not have what is missing: try an older one')
    }
    const { traces, artifacts, uploads, records, lfs } = restored.files
    const files = traces + artifacts + uploads + records + lfs
    if (files > 0) {
      const verb = restored.dry_run ? 'would restore' : 'restored'
      this.log(
        `${verb} lost files: traces ${traces}, archives ${artifacts}, uploads ${uploads}, LFS files ${lfs}, old records ${records}`
      )
    }
    const changes = restored.moved.length + restored.kept.length + restored.put_back + restored.left.length + files
    if (!restored.recreated && changes === 0) {
      this.log(`nothing to do: ${restored.path_with_namespace} has every ref of the backup`)
    }
    return restored.dry_run ? { would_restore: restored } : restored
  }

  private async whole(backup: FoundBackup, into: string, flags: FlagsOf<typeof Restore>) {
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
      this.log(`would restore ${record.id} with ${counted(record.projects, 'project')} into ${into}`)
      return { would_restore: record, into }
    }
    const restored = await endedBySignals(signal =>
      restoreHome(backup, { ...options, signal }, commandOrigin())
    ).finally(line.end)
    this.log(
      `restored ${restored.backup} into ${restored.home}: ${counted(restored.projects, 'project')}, ` +
        `${counted(restored.repositories, 'repository', 'repositories')}, ${counted(restored.files, 'file')}`
    )
    for (const column of restored.left_out) this.log(`left out the column ${column}: no migration makes it`)
    return restored
  }
}
