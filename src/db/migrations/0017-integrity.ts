import type { Migration } from './migration.js'

export const integrity: Migration = {
  name: '0017-integrity',
  up: [
    // What doctor found in a repository, and the state of its files then: it looks again when they have changed.
    `create table if not exists repository_checks (
      project_id int unsigned not null primary key,
      looked_at datetime(3) not null,
      fingerprint binary(32) not null,
      problem text null,
      key repository_checks_looked (looked_at)
    )`,
    // How far doctor has looked through the files of builds.
    `create table if not exists doctor_marks (
      name varchar(32) not null primary key,
      value bigint unsigned not null
    )`,
    'alter table builds add column artifacts_sha256 binary(32) null'
  ],
  down: [
    'alter table builds drop column artifacts_sha256',
    'drop table if exists doctor_marks',
    'drop table if exists repository_checks'
  ]
}
