import * as tokens from '../../../areas/ci/runners/registration-token.js'
import { BaseCommand } from '../../framework/base.js'
import { confirm, requireAnswer } from '../../framework/confirm.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { requireNamedProject } from '../../input/named-project.js'
import { Flags } from '../../oclif.js'

export default class RunnersToken extends BaseCommand {
  static override summary = 'Print the registration token for shared runners, or for runners of a project'
  static override description =
    'With --reset, the old token stops working; registered runners are not affected. With --json: {token}.'
  static override examples = [
    '<%= config.bin %> runners token',
    '<%= config.bin %> runners token --project ada/engine --json',
    '<%= config.bin %> runners token --reset --yes'
  ]
  static override flags = {
    project: Flags.string({ description: 'the token of this project: NAMESPACE/PROJECT or number' }),
    reset: Flags.boolean({ description: 'replace the token with a new one' }),
    yes: Flags.boolean({ description: 'do not ask for confirmation', dependsOn: ['reset'] })
  }

  async run() {
    const { flags } = await this.parse(RunnersToken)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (flags.reset) requireAnswer(how)
    if (flags.reset) await confirm(`the registration token of ${flags.project ?? 'the instance'} stops working`, how)
    const token = await withDatabase(async () => {
      const project = flags.project === undefined ? undefined : await requireNamedProject(flags.project)
      if (project)
        return flags.reset ? tokens.resetProjectToken(project, commandOrigin()) : tokens.projectToken(project)
      return flags.reset ? tokens.resetRegistrationToken(commandOrigin()) : tokens.registrationToken()
    })
    this.log(token)
    return { token }
  }
}
