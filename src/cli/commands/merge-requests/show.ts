import { BaseCommand } from '../../base.js'
import { Args } from '../../oclif.js'
import { requireNumbers } from '../../record-number.js'

export default class MergeRequestsShow extends BaseCommand {
  static override summary = 'Show merge requests of a project'
  static override description =
    'The number is the one in the project. With --json: the record, with id, project_id, project, number, title, description, state, merge_status, source_project_id, source_branch, target_branch, sha, merge_commit_sha, merge_when_build_succeeds, author, assignee, created_at and updated_at.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> merge-requests show ada/engine 12',
    '<%= config.bin %> merge-requests show ada/engine 12 13 --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    number: Args.string({
      required: true,
      description: 'number of a merge request in the project; you can give several'
    })
  }

  async run() {
    const { flags, argv } = await this.parse(MergeRequestsShow)
    this.configure(flags)
    const [of = '', ...numbers] = argv.map(String)
    const [{ asked }, { doEach }, { withDatabase }, { requireNamedProject }, queries, { fields }] = await Promise.all([
      import('../../asked.js'),
      import('../../each.js'),
      import('../../with-database.js'),
      import('../../named-project.js'),
      import('../../../areas/merge-requests/described-merge-requests.queries.js'),
      import('../../table.js')
    ])
    return withDatabase(async () => {
      const project = await requireNamedProject(of)
      return doEach(requireNumbers(numbers), this.jsonEnabled(), async number => {
        const find = () => queries.requireDescribedMergeRequest(project.id, number)
        const found = await asked('merge request', number, find)
        const { description, ...rest } = { ...queries.viewDescribedMergeRequest(found), description: found.description }
        this.log(fields(rest))
        if (description !== null) this.log(`\n${description}`)
        return { ...rest, description }
      })
    })
  }
}
