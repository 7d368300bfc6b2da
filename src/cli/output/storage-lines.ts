import type { StorageView } from '../../cluster/storage-rows.js'
import { bytesText } from '../../lib/bytes.js'
import { type Column, table } from './table.js'

const COLUMNS: readonly Column<StorageView>[] = [
  ['NAME', storage => storage.name],
  ['MACHINE', storage => storage.machine],
  ['ADDRESS', storage => storage.address],
  ['FREE', ({ free_bytes: free }) => (free === null ? null : bytesText(free))],
  ['PROJECTS', storage => storage.projects],
  ['PATH', storage => storage.path]
]

export const storageTable = (storages: readonly StorageView[]): string => table(storages, COLUMNS)
