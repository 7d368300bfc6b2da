import { eraseBuild } from '../../../areas/ci/builds/build-actions.js'
import { viewBuildLine } from '../../../areas/ci/builds/builds.line.js'
import type { NamedBuildRow } from '../../../areas/ci/builds/builds.queries.js'
import { requireBuild } from '../../../areas/ci/builds/builds.queries.js'
import { DestroyingCommand, type RecordDestruction } from '../../framework/destroying-command.js'
import { recordNumbers } from '../../input/record-number.js'

export default class BuildsErase extends DestroyingCommand<NamedBuildRow> {
  static override summary = 'Delete the trace and the artifacts of finished builds, but keep the builds'
  static override description =
    'Use it if a trace shows a secret, or if artifacts must not be published. With --json: {erased}, or with --dry-run {would_erase}: the build as in `builds list`.'
  static override examples = [
    '<%= config.bin %> builds erase 4711 --dry-run',
    '<%= config.bin %> builds erase 4711 4712 --yes --json'
  ]
  static override args = { build: recordNumbers('number of a build') }

  protected override readonly destruction: RecordDestruction<NamedBuildRow> = {
    kind: 'build',
    verb: 'erase',
    find: requireBuild,
    nameOf: ({ id, name, project }) => `the trace and the artifacts of build ${id} (${name} of ${project})`,
    destroy: async (build, origin) => {
      await eraseBuild({ id: build.project_id }, build.id, origin)
      return build
    },
    view: viewBuildLine
  }
}
