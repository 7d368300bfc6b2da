import { playBuild } from '../../../areas/ci/builds/build-actions.js'
import { requireBuild } from '../../../areas/ci/builds/builds.queries.js'
import { BadRequest, Conflict } from '../../../errors.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class BuildsPlay extends BaseCommand {
  static override summary = 'Start manual builds'
  static override description =
    'A build with `when: manual` has the status skipped until it is started. With --json: {played, failed}: the numbers of the builds; each failure is {argument, error}.'
  static override strict = false
  static override examples = ['<%= config.bin %> builds play 4711', '<%= config.bin %> builds play 4711 4712 --json']
  static override args = { build: recordNumbers('number of a build') }

  async run() {
    const { flags, argv } = await this.parse(BuildsPlay)
    this.configure(flags)
    const play = async (id: number) => {
      const build = await orNotFound('build', id, () => requireBuild(id))
      await playBuild({ id: build.project_id }, id, commandOrigin()).catch(error => {
        if (!(error instanceof BadRequest)) throw error
        throw new Conflict(`build ${id} is not a waiting manual build: its status is ${build.status}`)
      })
      this.log(`started build ${id}`)
    }
    const { done, failed } = await withDatabase(() => sortOut(requireNumbers(argv), this.jsonEnabled(), play))
    return { played: done.map(({ argument }) => argument), failed }
  }
}
