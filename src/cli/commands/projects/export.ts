import { exportProject } from '../../../areas/upkeep/project-archives/export.js'
import { EXTRAS, type Extra } from '../../../areas/upkeep/project-archives/format.js'
import { bytesText } from '../../../lib/bytes.js'
import { counted } from '../../../lib/counted.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { progressLine } from '../../framework/progress.js'
import { endedBySignals } from '../../framework/signals.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { pathFlag } from '../../input/path-flag.js'
import { Args, Flags } from '../../oclif.js'

export default class ProjectsExport extends BaseCommand {
  static override summary = 'Export one project to an archive'
  static override description =
    'The archive is a consistent snapshot of the repository, issues, merge requests, comments, award emoji, labels, milestones, snippets, boards, members, records of pipelines and builds, deployments, environments, releases, protected branches, hooks, schedules, the avatar, uploads and LFS files. `--with` adds traces and artifacts of builds, the values of variables, and the tokens of hooks, which anyone who has the file can then read. The archive contains no keys, services or triggers. The appliance may keep running. `projects import` imports the archive. Anyone who has the file can read the whole project. A signal cancels the export and removes the file.'
  static override examples = [
    '<%= config.bin %> projects export ada/engine',
    '<%= config.bin %> projects export ada/engine --output /mnt/engine.zip --json',
    '<%= config.bin %> projects export ada/engine --with traces --with artifacts'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or its number' })
  }
  static override flags = {
    output: pathFlag({
      description: 'the file to write, which must not exist (default: NAMESPACE-PROJECT-TIME.zip in the current folder)'
    }),
    with: Flags.string({
      multiple: true,
      options: [...EXTRAS],
      description:
        'what to add; you can give several. variables and hook-tokens are secrets, and the file is not encrypted'
    })
  }

  async run() {
    const { args, flags } = await this.parse(ProjectsExport)
    this.configure(flags)
    const line = progressLine()
    const exported = await endedBySignals(signal =>
      withDatabase(async () => {
        const project = await requireNamedProject(args.project)
        const options = {
          ...(flags.output === undefined ? {} : { output: flags.output }),
          extras: (flags.with ?? []) as Extra[],
          signal,
          progress: (done: number, total: number) => line.show('records', done, total)
        }
        return exportProject(project, options, commandOrigin())
      })
    ).finally(line.end)
    const { counts, refs, uploads, traces, artifacts, lfs, missing_files: missing } = exported
    const files = traces + artifacts > 0 ? `${traces} traces, ${artifacts} artifacts, ` : ''
    this.log(
      `${exported.project}: ${counted(counts.issue, 'issue')}, ${counted(counts.merge_request, 'merge request')}, ` +
        `${counted(counts.note, 'comment')}, ${counted(counts.pipeline, 'pipeline')}, ${counted(refs, 'ref')}, ${counted(uploads, 'upload')}, ` +
        `${counted(lfs, 'LFS file')}, ${files}${bytesText(exported.bytes)}\n${exported.path}`
    )
    if (missing > 0)
      this.log(`${missing} traces, artifacts or LFS files were lost or have expired: the archive lacks them`)
    return exported
  }
}
