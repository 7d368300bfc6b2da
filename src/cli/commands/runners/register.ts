import { announceRunner } from '../../../areas/ci/runners/external/registration.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Flags } from '../../oclif.js'

export default class RunnersRegister extends BaseCommand {
  static override summary =
    'Register a runner, and print its authentication token for the configuration of gitlab-runner'
  static override description =
    'The runner is shared, or with --project specific to that project. Put the token into config.toml of the runner, or pass it to `gitlab-runner register --token`. It is shown only here, and to masters of the project in the record of the runner. With --json: {id, token}.'
  static override examples = [
    '<%= config.bin %> runners register --description "build host 1" --tag linux --tag arm',
    '<%= config.bin %> runners register --project ada/engine --tag deploy --no-run-untagged --json'
  ]
  static override flags = {
    project: Flags.string({ description: 'register the runner for this project: NAMESPACE/PROJECT or number' }),
    description: Flags.string({ default: '', description: 'a name for the runner' }),
    tag: Flags.string({ multiple: true, description: 'a tag; you can give several' }),
    'run-untagged': Flags.boolean({
      allowNo: true,
      default: true,
      description: 'also take builds without tags (default)'
    }),
    locked: Flags.boolean({ description: 'do not allow other projects to enable the runner', dependsOn: ['project'] }),
    protected: Flags.boolean({ description: 'only take builds of protected branches' }),
    paused: Flags.boolean({ description: 'take no builds until `runners resume`' }),
    'maximum-timeout': Flags.integer({ min: 1, description: 'maximum seconds of a build on this runner' })
  }

  async run() {
    const { flags } = await this.parse(RunnersRegister)
    this.configure(flags)
    const wanted = {
      description: flags.description,
      tag_list: flags.tag ?? [],
      run_untagged: flags['run-untagged'],
      locked: flags.locked === true,
      active: flags.paused !== true,
      maximum_timeout: flags['maximum-timeout'],
      access_level: flags.protected ? 'ref_protected' : 'not_protected'
    }
    const made = await withDatabase(async () => {
      const project = flags.project === undefined ? null : (await requireNamedProject(flags.project)).id
      return announceRunner(project, wanted, commandOrigin())
    })
    this.logToStderr(`registered runner ${made.id}; its token:`)
    this.log(made.token)
    return made
  }
}
