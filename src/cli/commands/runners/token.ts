import { BaseCommand } from '../../base.js'
import { confirm, requireAnswer } from '../../confirm.js'
import { Flags } from '../../oclif.js'

export default class RunnersToken extends BaseCommand {
  static override summary = 'Print the token with which shared runners register'
  static override description =
    'The runners of one project register with the runners_token of the project instead. With --reset the old token stops working; runners that are registered stay. With --json: {token}.'
  static override examples = ['<%= config.bin %> runners token', '<%= config.bin %> runners token --reset --yes']
  static override flags = {
    reset: Flags.boolean({ description: 'replace the token by a new one' }),
    yes: Flags.boolean({ description: 'do it without a question', dependsOn: ['reset'] })
  }

  async run() {
    const { flags } = await this.parse(RunnersToken)
    this.configure(flags)
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    if (flags.reset) requireAnswer(how)
    const [{ withDatabase }, { commandOrigin }, { registrationToken, resetRegistrationToken }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../../areas/runners/registration-token.js')
    ])
    if (flags.reset) await confirm('the registration token of the instance stops working', how)
    const token = await withDatabase(() =>
      flags.reset ? resetRegistrationToken(commandOrigin()) : registrationToken()
    )
    this.log(token)
    return { token }
  }
}
