import { undrainStorage } from '../../../areas/upkeep/file-moves/drain-storage.js'
import { BaseCommand } from '../../framework/base.js'
import { commandOrigin } from '../../framework/origin.js'
import { withDatabase } from '../../framework/with-database.js'
import { Args } from '../../oclif.js'

export default class StoragesUndrain extends BaseCommand {
  static override summary = 'Put new projects into a storage again'
  static override description =
    'Adds the storage to the setting `repository_storages`. With --json: {storages}, those for new projects.'
  static override examples = [
    '<%= config.bin %> storages undrain slow',
    '<%= config.bin %> storages undrain slow --json'
  ]
  static override args = { name: Args.string({ required: true, description: 'the name of the storage' }) }

  async run() {
    const { args, flags } = await this.parse(StoragesUndrain)
    this.configure(flags)
    const storages = await withDatabase(() => undrainStorage(args.name, commandOrigin()))
    this.log(`new projects go to ${storages.join(', ')}`)
    return { storages }
  }
}
