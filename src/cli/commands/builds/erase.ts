import type { DescribedBuild } from '../../../areas/builds/described-builds.queries.js'
import { DestroyingCommand, type RecordDestruction } from '../../destroying-command.js'
import { recordNumbers } from '../../record-number.js'

export default class BuildsErase extends DestroyingCommand<DescribedBuild> {
  static override summary = 'Remove the trace and the artifacts of builds that have ended; the builds stay'
  static override description =
    'For a trace that shows a secret, or files that nobody may have. With --json: {erased}, or with --dry-run {would_erase}: the build in the form of `builds list`.'
  static override examples = [
    '<%= config.bin %> builds erase 4711 --dry-run',
    '<%= config.bin %> builds erase 4711 4712 --yes --json'
  ]
  static override args = { build: recordNumbers('number of a build') }

  protected async destruction(): Promise<RecordDestruction<DescribedBuild>> {
    const [{ requireDescribedBuild, viewDescribedBuild }, { eraseBuild }] = await Promise.all([
      import('../../../areas/builds/described-builds.queries.js'),
      import('../../../areas/builds/build-actions.js')
    ])
    return {
      kind: 'build',
      verb: 'erase',
      find: requireDescribedBuild,
      nameOf: ({ id, name, project }) => `the trace and the artifacts of build ${id} (${name} of ${project})`,
      destroy: async (build, origin) => {
        await eraseBuild({ id: build.project_id }, build.id, origin)
        return build
      },
      view: viewDescribedBuild
    }
  }
}
