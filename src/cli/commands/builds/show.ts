import { viewBuildLine } from '../../../areas/ci/builds/builds.line.js'
import { requireBuild } from '../../../areas/ci/builds/builds.queries.js'
import { sizeOfTrace } from '../../../areas/ci/builds/live-build.js'
import { BaseCommand } from '../../framework/base.js'
import { doEach } from '../../framework/each.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'
import { fields } from '../../output/table.js'

export default class BuildsShow extends BaseCommand {
  static override summary = 'Show a build: its status, its runner, and why it failed'
  static override description =
    'With --json: the record, with id, pipeline_id, project_id, project, name, stage, ref, tag, sha, status, when, allow_failure, tag_list, attempt, failure_reason, exit_code, coverage, user, runner_id, runner, artifacts_size, artifacts_expire_at, created_at, queued_at, started_at, finished_at, erased_at and trace_size.'
  static override strict = false
  static override examples = ['<%= config.bin %> builds show 4711', '<%= config.bin %> builds show 4711 4712 --json']
  static override args = { build: recordNumbers('number of a build') }

  async run() {
    const { flags, argv } = await this.parse(BuildsShow)
    this.configure(flags)
    const show = async (id: number) => {
      const build = await orNotFound('build', id, () => requireBuild(id))
      const view = viewBuildLine(build)
      const shown = { ...view, trace_size: await sizeOfTrace(build) }
      this.log(fields({ ...shown, tag_list: view.tag_list.join(', ') }))
      return shown
    }
    return withDatabase(() => doEach(requireNumbers(argv), this.jsonEnabled(), show))
  }
}
