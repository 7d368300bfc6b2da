import type { Migration } from './migration.js'

export const deployKeys: Migration = {
  name: '0031-deploy-keys',
  up: [
    // Two people may add the same key to their projects independently, so a fingerprint may occur twice.
    `create table if not exists deploy_keys (
      id int unsigned not null auto_increment primary key,
      user_id int unsigned null,
      title varchar(255) not null,
      public_key text not null,
      fingerprint varchar(64) not null,
      can_push boolean not null default false,
      is_public boolean not null default false,
      created_at datetime(3) not null,
      last_used_at datetime(3) null,
      key deploy_keys_fingerprint (fingerprint),
      key deploy_keys_user (user_id)
    )`,
    `create table if not exists deploy_key_projects (
      id int unsigned not null auto_increment primary key,
      deploy_key_id int unsigned not null,
      project_id int unsigned not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key deploy_key_projects_key (deploy_key_id, project_id),
      key deploy_key_projects_project (project_id)
    )`
  ],
  down: ['drop table if exists deploy_key_projects', 'drop table if exists deploy_keys']
}
