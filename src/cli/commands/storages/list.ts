import { listStorages } from '../../../cluster/storage-rows.js'
import { BaseCommand } from '../../framework/base.js'
import { withDatabase } from '../../framework/with-database.js'
import { storageTable } from '../../output/storage-lines.js'

export default class StoragesList extends BaseCommand {
  static override summary = 'List the storages of repositories and the machines that own them'
  static override description =
    'An appliance without `cluster.address` has no owners, and lists nothing. With --json: {storages}, each with name, path, machine, machine_id, address, free_bytes, projects.'
  static override examples = ['<%= config.bin %> storages list', '<%= config.bin %> storages list --json']

  async run() {
    const { flags } = await this.parse(StoragesList)
    this.configure(flags)
    const storages = await withDatabase(listStorages)
    this.log(storageTable(storages))
    return { storages }
  }
}
