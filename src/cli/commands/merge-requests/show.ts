import { viewMergeRequestLine } from '../../../areas/planning/merge-requests/merge-requests.line.js'
import { requireByNumber } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { orNotFound } from '../../input/or-not-found.js'
import { requireNumbers } from '../../input/record-number.js'
import { Args } from '../../oclif.js'
import { fields } from '../../output/table.js'

export default class MergeRequestsShow extends BaseCommand {
  static override summary = 'Show merge requests of a project'
  static override description =
    'NUMBER is the number of the merge request within the project. With --json: the record, with id, project_id, project, number, title, description, state, merge_status, source_project_id, source_branch, target_branch, sha, merge_commit_sha, merge_when_build_succeeds, author, assignee, created_at and updated_at.'
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
    return withDatabase(async () => {
      const project = await requireNamedProject(of)
      return doEach(requireNumbers(numbers), this.jsonEnabled(), async number => {
        const found = await orNotFound('merge request', number, () => requireByNumber(project.id, number))
        const { description } = found
        const line = viewMergeRequestLine(found)
        this.log(fields(line))
        if (description !== null) this.log(`\n${description}`)
        return { ...line, description }
      })
    })
  }
}
