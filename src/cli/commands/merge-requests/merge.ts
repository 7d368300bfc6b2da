import { mergerBy } from '../../../areas/planning/merge-requests/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { orNotFound } from '../../input/or-not-found.js'
import { requireNumbers } from '../../input/record-number.js'
import { Args, Flags } from '../../oclif.js'

export default class MergeRequestsMerge extends BaseCommand {
  static override summary = 'Merge merge requests of a project in the name of a user'
  static override description =
    'The rights of the user count, and the rules of the project: work in progress, conflicts, and builds that must succeed. The number is the one in the project. With --json: {merged, failed}: each merged one is {number, merge_commit_sha, state}; each failure is {argument, error}.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> merge-requests merge ada/engine 12 --user ada',
    '<%= config.bin %> merge-requests merge ada/engine 12 13 --user ada --remove-source-branch --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    number: Args.string({
      required: true,
      description: 'number of a merge request in the project; you can give several'
    })
  }
  static override flags = {
    user: Flags.string({ required: true, description: 'who merges: the commit has the name and address of this user' }),
    message: Flags.string({
      description: 'the message of the commit (default: the branches, the title and the number)'
    }),
    'remove-source-branch': Flags.boolean({ description: 'remove the source branch after the merge' }),
    'when-build-succeeds': Flags.boolean({ description: 'wait for the pipeline of the source branch, if one runs' })
  }

  async run() {
    const { flags, argv } = await this.parse(MergeRequestsMerge)
    this.configure(flags)
    const [of = '', ...numbers] = argv.map(String)
    const body = {
      ...(flags.message !== undefined && { merge_commit_message: flags.message }),
      should_remove_source_branch: flags['remove-source-branch'],
      merge_when_build_succeeds: flags['when-build-succeeds']
    }
    const { done, failed } = await withDatabase(async () => {
      const project = await requireNamedProject(of)
      const merge = await mergerBy(flags.user)
      return sortOut(requireNumbers(numbers), this.jsonEnabled(), async number => {
        const { state, merge_commit_sha } = await orNotFound('merge request', number, () =>
          merge(project, number, body)
        )
        this.log(state === 'merged' ? `${number} is merged: ${merge_commit_sha}` : `${number} waits for its build`)
        return { number, state, merge_commit_sha }
      })
    })
    return { merged: done.map(({ result }) => result), failed }
  }
}
