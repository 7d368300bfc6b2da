import type { Files } from '../../../areas/code/repository/upkeep.js'
import { packNow } from '../../../areas/code/repository/upkeep.js'
import { bytesText } from '../../../lib/bytes.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { eachRepository, everyFlag, repositoryArgs } from '../../topics/each-repository.js'

interface Packed {
  readonly id: number
  readonly path_with_namespace: string
  /** Null for a repository that does not exist yet. */
  readonly before: Files | null
  readonly after: Files | null
}

const shown = ({ objects, packs, bytes }: Files) => `${objects} loose objects, ${packs} packs, ${bytesText(bytes)}`

export default class ProjectsGc extends BaseCommand {
  static override summary = 'Pack repositories now, and remove objects that have been unreachable for two weeks'
  static override description =
    'The task repository_upkeep does the same automatically when a repository needs it. Pushes and reads still work. The exit code is 6 if that task or another `projects gc` is running. With --json: {id, path_with_namespace, before, after}, with {objects, packs, bytes} each; with --all {packed, failed}.'
  static override examples = [
    '<%= config.bin %> projects gc ada/engine',
    '<%= config.bin %> projects gc 42 43 --json',
    '<%= config.bin %> projects gc --all'
  ]
  static override strict = false
  static override args = repositoryArgs
  static override flags = { ...everyFlag }

  async run() {
    const { argv, flags } = await this.parse(ProjectsGc)
    this.configure(flags)
    const names = argv.map(String)
    if (Boolean(flags.all) === names.length > 0)
      this.error('name projects, or use --all for all projects', { exit: ExitCode.usage })
    const result = await eachRepository<Packed>({
      names,
      json: this.jsonEnabled(),
      label: 'packing',
      lock: 'repository_upkeep',
      work: async (repository, signal) => {
        const { id, path_with_namespace } = repository
        const files = await packNow(repository, signal)
        return { id, path_with_namespace, ...(files ?? { before: null, after: null }) }
      },
      say: text => this.log(text),
      lineOf: ({ path_with_namespace: path, before, after }) =>
        before && after ? `${path}: ${shown(before)} -> ${shown(after)}` : `${path}: no repository yet`,
      matters: () => false
    })
    if (!('found' in result)) return result
    this.log(
      `packed ${counted(result.done - result.failed.length, 'repository', 'repositories')}, ${result.failed.length} failed`
    )
    return { packed: result.done - result.failed.length, failed: result.failed }
  }
}
