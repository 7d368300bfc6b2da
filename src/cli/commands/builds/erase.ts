import { BaseCommand } from '../../base.js'
import { destroyingFlags, requireAnswer } from '../../confirm.js'
import { recordNumbers, requireNumbers } from '../../record-number.js'

export default class BuildsErase extends BaseCommand {
  static override summary = 'Remove the trace and the artifacts of builds that have ended; the builds stay'
  static override description =
    'For a trace that shows a secret, or files that nobody may have. With --json: {erased}, or with --dry-run {would_erase}: the build in the form of `builds list`.'
  static override strict = false
  static override examples = [
    '<%= config.bin %> builds erase 4711 --dry-run',
    '<%= config.bin %> builds erase 4711 4712 --yes --json'
  ]
  static override args = { build: recordNumbers('number of a build') }
  static override flags = { ...destroyingFlags }

  async run() {
    const { flags, argv } = await this.parse(BuildsErase)
    this.configure(flags)
    const dryRun = flags['dry-run'] === true
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (!dryRun) requireAnswer(how)
    const [{ asked }, { destroyEach }, { withDatabase }, { commandOrigin }, queries, { eraseBuild }] =
      await Promise.all([
        import('../../asked.js'),
        import('../../each.js'),
        import('../../with-database.js'),
        import('../../origin.js'),
        import('../../../areas/builds/described-builds.queries.js'),
        import('../../../areas/builds/build-actions.js')
      ])
    return withDatabase(() =>
      destroyEach(requireNumbers(argv), {
        how,
        dryRun,
        find: id => asked('build', id, () => queries.requireDescribedBuild(id)),
        loss: ({ id, name, project }) => `to erase the trace and the artifacts of build ${id} (${name} of ${project})`,
        destroy: async build => {
          if (!dryRun) await eraseBuild({ id: build.project_id }, build.id, commandOrigin())
          this.log(`${dryRun ? 'would erase' : 'erased'} build ${build.id}`)
          const view = queries.viewDescribedBuild(build)
          return dryRun ? { would_erase: view } : { erased: view }
        }
      })
    )
  }
}
