import { runAppliance } from '../appliance/run-appliance.js'
import { BaseCommand } from '../framework/base.js'
import { Flags } from '../oclif.js'

export default class Up extends BaseCommand {
  static override summary = 'Run the whole appliance in the foreground: database, server and worker'
  static override description =
    'Prints `ready http://HOST:PORT` on stdout when all parts answer, restarts a part that dies, and stops cleanly on SIGTERM. The log goes to stderr and to run/gitstead.log in the home; `gitstead logs` shows it. Use `gitstead stop` and `gitstead restart` from another shell.'
  static override enableJsonFlag = false
  static override examples = [
    '<%= config.bin %> up',
    '<%= config.bin %> up --home /srv/gitstead --host 0.0.0.0 --port 80',
    '<%= config.bin %> up --home /srv/gitstead --user gitstead'
  ]
  static override flags = {
    host: Flags.string({ description: 'the address to listen at' }),
    user: Flags.string({
      description: 'the user as whom root runs everything, and who owns the home (default: the owner of the home)'
    }),
    port: Flags.integer({ description: 'the port to listen at; 0 means any free port', min: 0, max: 65535 })
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Up)
    this.configure(flags)
    await runAppliance(() => this.configure(flags), flags.user)
  }
}
