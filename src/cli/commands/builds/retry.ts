import { retryBuilds } from '../../../areas/ci/builds/administer.js'
import { BaseCommand } from '../../framework/base.js'
import { sortOut } from '../../framework/each.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { orNotFound } from '../../input/or-not-found.js'
import { recordNumbers, requireNumbers } from '../../input/record-number.js'

export default class BuildsRetry extends BaseCommand {
  static override summary = 'Retry finished builds, each as a new build of its pipeline'
  static override description =
    'The old build is kept. Skipped builds of later stages run if the new build succeeds. A build that cannot be retried does not stop the others. With --json: {retried: [{build, retried_as}], failed: [{argument, error}]}, the numbers of the old and the new builds.'
  static override strict = false
  static override examples = ['<%= config.bin %> builds retry 4711', '<%= config.bin %> builds retry 4711 4712 --json']
  static override args = { build: recordNumbers('number of a build') }

  async run() {
    const { flags, argv } = await this.parse(BuildsRetry)
    this.configure(flags)
    const retry = async (build: number) => {
      const again = (await orNotFound('build', build, () => retryBuilds([build], commandOrigin()))).get(build)
      this.log(`build ${build} is retried as ${again}`)
      return again
    }
    const { done, failed } = await withDatabase(() => sortOut(requireNumbers(argv), this.jsonEnabled(), retry))
    return { retried: done.map(({ argument, result }) => ({ build: argument, retried_as: result })), failed }
  }
}
