import { lookIntoRepository } from '../../../areas/code/repository/integrity.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { Flags } from '../../oclif.js'
import { printable } from '../../output/table.js'
import { eachRepository, everyFlag, repositoryArgs } from '../../topics/each-repository.js'

interface Checked {
  readonly id: number
  readonly path_with_namespace: string
  readonly state: 'intact' | 'damaged' | 'empty' | 'waiting'
  readonly problems: readonly string[]
}

const SHOWN = 20

export default class ProjectsFsck extends BaseCommand {
  static override summary = 'Check that repositories have every object that HEAD and the refs need'
  static override description =
    'Unlike `doctor`, it also checks repositories that have not changed since their last check. It changes nothing. With --contents, git reads every object and compares it with its id, which finds corruption of the disk and takes minutes for a large repository. The exit code is 1 if a repository is damaged. With --json: {id, path_with_namespace, state, problems}; the state is intact, damaged, empty (nothing was pushed yet) or waiting (a job is filling it). With --all: {looked, damaged, failed}.'
  static override examples = [
    '<%= config.bin %> projects fsck ada/engine --contents',
    '<%= config.bin %> projects fsck 42 43 --json',
    '<%= config.bin %> projects fsck --all'
  ]
  static override strict = false
  static override args = repositoryArgs
  static override flags = {
    ...everyFlag,
    contents: Flags.boolean({ description: 'read every object and compare it with its id' })
  }

  async run() {
    const { argv, flags } = await this.parse(ProjectsFsck)
    this.configure(flags)
    const names = argv.map(String)
    if (Boolean(flags.all) === names.length > 0)
      this.error('name projects, or use --all for all projects', { exit: ExitCode.usage })
    const result = await eachRepository<Checked>({
      names,
      json: this.jsonEnabled(),
      label: 'checking',
      work: async (repository, signal) => {
        const look = await lookIntoRepository(repository, { signal, contents: flags.contents })
        if (look.state === 'damaged') process.exitCode = ExitCode.failed
        return { id: repository.id, path_with_namespace: repository.path_with_namespace, ...look }
      },
      say: text => this.log(text),
      lineOf: ({ path_with_namespace: path, state, problems }) =>
        [`${path}: ${state}`, ...problems.slice(0, SHOWN).map(problem => `  ${printable(problem)}`)].join('\n'),
      matters: ({ state }) => state === 'damaged'
    })
    if (!('found' in result)) return result
    this.log(
      `checked ${counted(result.done, 'repository', 'repositories')}: ${result.found.length} damaged, ${result.failed.length} failed`
    )
    return { looked: result.done, damaged: result.found, failed: result.failed }
  }
}
