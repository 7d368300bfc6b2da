import { drainStorage, emptyStorage } from '../../../areas/upkeep/file-moves/drain-storage.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { commandOrigin } from '../../framework/origin.js'
import { endedBySignals } from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class StoragesDrain extends BaseCommand {
  static override summary = 'Put no new projects into a storage, and with --move, move its projects to others'
  static override description =
    'Takes the storage out of the setting `repository_storages`; forks still go to the storage of their source. With --move, each project moves to the emptiest of the other storages of that setting that this machine owns, as with `projects move`. When the command is killed, run it again. With --json: {storages, moved, failed}; storages are those for new projects.'
  static override examples = [
    '<%= config.bin %> storages drain slow',
    '<%= config.bin %> storages drain slow --move --json'
  ]
  static override args = { name: Args.string({ required: true, description: 'the name of the storage' }) }
  static override flags = { move: Flags.boolean({ description: 'move its projects to other storages' }) }

  async run() {
    const { args, flags } = await this.parse(StoragesDrain)
    this.configure(flags)
    return endedBySignals(
      signal =>
        withDatabase(async () => {
          const storages = await drainStorage(args.name, commandOrigin())
          this.log(`new projects go to ${storages.join(', ')}`)
          if (!flags.move) return { storages, moved: 0, failed: [] }
          const { moved, failed } = await emptyStorage(args.name, commandOrigin(), {
            signal,
            onMoved: ({ path_with_namespace: path, to }) => this.log(`moved project ${path} to the storage ${to}`)
          })
          for (const { project, error } of failed) this.logToStderr(`gitstead: ${project}: ${error}`)
          if (failed.length > 0) process.exitCode = ExitCode.failed
          this.log(`moved ${counted(moved, 'project')}, ${failed.length} failed`)
          return { storages, moved, failed }
        }),
      'the projects that have moved stay in their new storages'
    )
  }
}
