import type { Migration } from './migration.js'

// Two projects could have their own records of the same key, and still may. New keys have one record: their fingerprint is unique in
// this column, which is null for the second and later records of an older key.
export const soleDeployKeys: Migration = {
  name: '0090-sole-deploy-keys',
  up: [
    'alter table deploy_keys add column sole_fingerprint varchar(64) null',
    `update deploy_keys k join (select min(id) as id from deploy_keys group by fingerprint) oldest on oldest.id = k.id
     set k.sole_fingerprint = k.fingerprint`,
    'alter table deploy_keys add unique key deploy_keys_sole_fingerprint (sole_fingerprint)'
  ],
  down: ['alter table deploy_keys drop key deploy_keys_sole_fingerprint, drop column sole_fingerprint']
}
