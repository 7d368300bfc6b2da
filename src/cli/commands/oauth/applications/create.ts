import { createApplication } from '../../../../areas/people/credentials/oauth-applications.js'
import { viewNewApplication } from '../../../../areas/people/credentials/oauth-applications.view.js'
import { BaseCommand } from '../../../framework/base.js'
import { commandOrigin } from '../../../framework/origin.js'
import { withDatabase } from '../../../framework/with-database.js'
import { Flags } from '../../../oclif.js'

export default class OauthApplicationsCreate extends BaseCommand {
  static override summary =
    'Register an OAuth application of the instance, and print its secret, which is never shown again'
  static override description =
    'The application asks users for access with its client_id, and gets tokens with its client_secret. Redirect URIs must match exactly. With --json: the record with its secret as in POST /applications.'
  static override examples = [
    '<%= config.bin %> oauth applications create --name board --redirect-uri https://board.example.org/callback',
    '<%= config.bin %> oauth applications create --name phone --redirect-uri org.example.phone:/signed-in --public --json'
  ]
  static override flags = {
    name: Flags.string({ required: true, description: 'the name that users see when they are asked for access' }),
    'redirect-uri': Flags.string({
      required: true,
      multiple: true,
      description: 'the URI to which users return with the code; you can give several'
    }),
    scope: Flags.option({
      options: ['api', 'read_user'] as const,
      multiple: true,
      description: 'maximum scope of its tokens; you can give both (default: api)'
    })(),
    public: Flags.boolean({
      description: 'the application cannot keep a secret, as on a phone or in a browser, and must use PKCE'
    })
  }

  async run() {
    const { flags } = await this.parse(OauthApplicationsCreate)
    this.configure(flags)
    const body = {
      name: flags.name,
      redirect_uri: flags['redirect-uri'].join('\n'),
      scopes: flags.scope,
      confidential: !flags.public
    }
    const made = await withDatabase(async () => viewNewApplication(await createApplication(body, commandOrigin())))
    this.log(
      `registered application ${made.id} (${made.scopes.join(', ')})\nclient_id: ${made.application_id}\nclient_secret: ${made.secret}`
    )
    return made
  }
}
