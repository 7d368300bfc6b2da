import type { Migration } from './migration.js'

// The length of a lease, as its owner is configured. A lease that ends later than in this time was given by another clock.
export const leaseLengths: Migration = {
  name: '0193-lease-lengths',
  up: [
    'alter table machines add column lease_seconds int unsigned null',
    'alter table job_processes add column lease_seconds int unsigned null',
    'alter table storages add column lease_seconds int unsigned null'
  ],
  down: [
    'alter table storages drop column lease_seconds',
    'alter table job_processes drop column lease_seconds',
    'alter table machines drop column lease_seconds'
  ]
}
