import { mergerBy } from '../../../areas/planning/merge-requests/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { orNotFound } from '../../input/or-not-found.js'
import { requireNumbers } from '../../input/record-number.js'
import { Args, Flags } from '../../oclif.js'

export default class MergeRequestsMerge extends BaseCommand {
  static override summary = 'Merge merge requests of a project as a user'
  static override description =
    'The user needs the right to merge, and the rules of the project apply: work in progress, conflicts, and builds that must succeed. NUMBER is the number of the merge request within the project. With --json: {merged, failed}: each merged one is {number, merge_commit_sha, state}; each failure is {argument, error}.'
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
    user: Flags.string({
      required: true,
      description: 'the user who merges, and whose name and address the merge commit has'
    }),
    message: Flags.string({
      description: 'the commit message (default: the branches, the title and the number)'
    }),
    'remove-source-branch': Flags.boolean({ description: 'remove the source branch after the merge' }),
    'when-build-succeeds': Flags.boolean({
      description: 'if a pipeline of the source branch is running, merge when it succeeds'
    })
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
