import { BaseCommand } from '../../base.js'
import { Flags } from '../../oclif.js'

export default class DeployKeysAdd extends BaseCommand {
  static override summary = 'Add a deploy key to a project, from standard input or a file'
  static override description =
    'A key that the project has already stays as it is; a key of another project is enabled, with the rights that it has. With --public instead of --project: a key that the masters of every project may enable there. With --json: the key as the API shows it.'
  static override examples = [
    '<%= config.bin %> deploy-keys add --project ada/engine --title server < id_ed25519.pub',
    '<%= config.bin %> deploy-keys add --public --title mirror --file mirror.pub --json'
  ]
  static override flags = {
    project: Flags.string({ description: 'the project: its path or its number', exactlyOne: ['project', 'public'] }),
    public: Flags.boolean({ description: 'let the masters of every project enable it' }),
    title: Flags.string({ required: true, description: 'a name by which people recognise the key' }),
    push: Flags.boolean({ description: 'let the key push too' }),
    file: Flags.file({ description: 'read the key from a file' })
  }

  async run() {
    const { flags } = await this.parse(DeployKeysAdd)
    this.configure(flags)
    const { readText } = await import('../../read-text.js')
    const body = { title: flags.title, key: await readText('key', flags.file), can_push: flags.push === true }
    const [{ withDatabase }, { commandOrigin }, { requireNamedProject }, keys, { viewDeployKey }] = await Promise.all([
      import('../../with-database.js'),
      import('../../origin.js'),
      import('../../named-project.js'),
      import('../../../areas/ssh/deploy-keys.js'),
      import('../../../areas/ssh/deploy-keys.view.js')
    ])
    const key = await withDatabase(async () =>
      flags.project === undefined
        ? keys.addPublicKey(body, commandOrigin())
        : keys.addDeployKey(await requireNamedProject(flags.project), body, commandOrigin())
    )
    const rights = key.can_push ? 'reads and pushes' : 'reads'
    this.log(`deploy key ${key.id} of ${flags.project ?? 'all who want it'} ${rights} (SHA256:${key.fingerprint})`)
    return viewDeployKey(key)
  }
}
