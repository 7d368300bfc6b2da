import { setVariable } from '../../../areas/ci/variables/variables.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { readText } from '../../input/read-text.js'
import { Args, Flags } from '../../oclif.js'

export default class VariablesSet extends BaseCommand {
  static override summary = 'Set a variable of a project, from standard input or a file'
  static override description =
    'Creates the variable with this scope, or changes it; settings that you do not give stay. It applies to builds that start later. The value is the whole text without its last line end. With --json: {key, made}: whether the variable is new.'
  static override examples = [
    '<%= config.bin %> variables set ada/engine DEPLOY_KEY --file id_ed25519',
    '<%= config.bin %> variables set ada/engine KEY --scope production --protected --file key.txt',
    'pass show engine | <%= config.bin %> variables set ada/engine PASSWORD --json'
  ]
  static override args = {
    project: Args.string({ required: true, description: 'the project: NAMESPACE/PROJECT or number' }),
    key: Args.string({ required: true, description: 'the name of the variable' })
  }
  static override flags = {
    file: Flags.file({ description: 'read the value from a file' }),
    scope: Flags.string({ description: 'the environment whose builds get it; * stands for any characters; default *' }),
    protected: Flags.boolean({ allowNo: true, description: 'only builds of protected branches get it' }),
    masked: Flags.boolean({
      allowNo: true,
      description: 'traces hide the value (default if it has at least 8 characters and no white space)'
    })
  }

  async run() {
    const { args, flags } = await this.parse(VariablesSet)
    this.configure(flags)
    const value = (await readText('value', flags.file)).replace(/\r?\n$/, '')
    const { scope, masked, protected: isProtected } = flags
    const body = {
      ...{ key: args.key, value },
      ...(scope !== undefined && { environment_scope: scope }),
      ...(masked !== undefined && { masked }),
      ...(isProtected !== undefined && { protected: isProtected })
    }
    const made = await withDatabase(async () =>
      setVariable(await requireNamedProject(args.project), body, commandOrigin())
    )
    this.log(`${made ? 'created' : 'changed'} variable ${args.key} of ${args.project}`)
    return { key: args.key, made }
  }
}
