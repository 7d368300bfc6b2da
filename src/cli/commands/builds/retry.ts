import { Args } from '@oclif/core'
import { BaseCommand } from '../../base.js'
import { numbersIn } from '../../record-number.js'

export default class BuildsRetry extends BaseCommand {
  static override summary = 'Repeat builds that have ended, each as a new build of its pipeline'
  static override description =
    'The old build stays. Builds of later stages that were skipped run when the new build passes. With --json: {retried: [{build, retried_as}]}, the numbers of the old and the new builds.'
  static override strict = false
  static override examples = ['<%= config.bin %> builds retry 4711', '<%= config.bin %> builds retry 4711 4712 --json']
  static override args = { build: Args.string({ description: 'number of a build; you can give several' }) }

  async run() {
    const { flags, argv } = await this.parse(BuildsRetry)
    this.configure(flags)
    const ids = numbersIn(argv.map(String))
    if (ids === undefined || ids.length === 0) this.error('give the numbers of builds', { exit: 2 })
    const [{ withDatabase }, { commandOrigin }, { retryBuilds }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/builds/administer.js')
    ])
    const retried = await withDatabase(() => retryBuilds(ids, commandOrigin()))
    for (const [build, again] of retried) this.log(`build ${build} is retried as ${again}`)
    return { retried: [...retried].map(([build, again]) => ({ build, retried_as: again })) }
  }
}
