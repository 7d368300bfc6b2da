import { acceptKey, missingKeyFile } from '../../../areas/ground/settings/encryption-key.js'
import { requireSchema } from '../../../db/schema/migrate.js'
import { refuseAtWork } from '../../appliance/require-stopped.js'
import { BaseCommand } from '../../framework/base.js'
import { confirm, destroyingFlags, requireAnswer } from '../../framework/confirm.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'

export default class DbAcceptKey extends BaseCommand {
  static override summary = 'Let the appliance start with another secrets.json than before'
  static override description =
    'Only for a secrets.json that is lost for good: put back a copy if there is one. Stop the appliance first. The values that ' +
    'the key cannot decrypt stay lost until you set them again. The command says how many there are, and `doctor --all` ' +
    'which. If the home has no secrets.json, the command creates it. An embedded database gets the password of the file. With --json: {accepted, undecryptable, dry_run}; the ' +
    'count ends at 1000.'
  static override examples = ['<%= config.bin %> db accept-key --dry-run', '<%= config.bin %> db accept-key --yes']
  static override flags = destroyingFlags

  async run() {
    const { flags } = await this.parse(DbAcceptKey)
    this.configure(flags)
    const dryRun = flags['dry-run'] ?? false
    const how = { yes: flags.yes, json: this.jsonEnabled() }
    const lost = missingKeyFile()
    if (!dryRun) {
      requireAnswer(how)
      await refuseAtWork.beforeDatabase()
      if (lost) await confirm(`to replace the lost ${lost}: no value that it encrypted can be decrypted again`, how)
    }
    return withDatabase(
      async () => {
        await requireSchema()
        if (!dryRun) {
          await refuseAtWork.inDatabase()
          const { accepted, undecryptable } = await acceptKey({ dryRun: true }, commandOrigin())
          if (accepted && !lost) await confirm(`to accept a key that cannot decrypt ${undecryptable} values`, how)
        }
        const { accepted, undecryptable } = await acceptKey({ dryRun }, commandOrigin())
        if (accepted) this.log(dryRun ? 'would accept the key of this home' : 'accepted the key of this home')
        else this.log('the key of this home is that of the database')
        this.log(`it cannot decrypt ${undecryptable === 1 ? '1 value' : `${undecryptable} values`}`)
        return { accepted, undecryptable, dry_run: dryRun }
      },
      { anySchema: true, setsPassword: !dryRun }
    )
  }
}
