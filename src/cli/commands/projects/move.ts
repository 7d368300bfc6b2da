import { requireRepository } from '../../../areas/code/repository/repositories.queries.js'
import { moveProject } from '../../../areas/upkeep/file-moves/move-project.js'
import { bytesText } from '../../../lib/bytes.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { endedBySignals } from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args, Flags } from '../../oclif.js'

export default class ProjectsMove extends BaseCommand {
  static override summary = 'Move the repository of a project to another storage while people use it'
  static override description =
    'Reads and pushes still work. Changes of branches wait while the last changes are copied, which takes about a second, at most 30. The old copy is removed an hour later. This machine must own the new storage; the machine that owns the old one reads the files out. When the command is killed, the project stays where it is: run it again. The exit code is 6 while a backup is written or another project moves. With --json: {id, path_with_namespace, from, to, bytes, held_ms}; held_ms is how long changes waited.'
  static override examples = [
    '<%= config.bin %> projects move ada/engine --storage fast',
    '<%= config.bin %> projects move 42 43 --storage fast --json'
  ]
  static override strict = false
  static override args = {
    project: Args.string({
      required: true,
      description: 'the project: NAMESPACE/PROJECT or number; you can give several'
    })
  }
  static override flags = {
    storage: Flags.string({ required: true, description: 'the storage that gets the repository' })
  }

  async run() {
    const { argv, flags } = await this.parse(ProjectsMove)
    this.configure(flags)
    return endedBySignals(
      signal =>
        withDatabase(() =>
          doEach(argv.map(String), this.jsonEnabled(), async name => {
            const moved = await moveProject(await requireRepository(name), flags.storage, commandOrigin(), signal)
            this.log(
              `moved project ${moved.path_with_namespace} to the storage ${moved.to}: ${bytesText(moved.bytes)}; changes waited for ${moved.held_ms} ms`
            )
            return moved
          })
        ),
      'the project stays where it is'
    )
  }
}
