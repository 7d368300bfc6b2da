import type { Migration } from './migration.js'

export const integrity: Migration = {
  name: '0017-integrity',
  up: [
    // The findings of doctor in a repository, and the state of its files at that time: doctor checks it again when they
    // have changed.
    `create table if not exists repository_checks (
      project_id int unsigned not null primary key,
      looked_at datetime(3) not null,
      fingerprint binary(32) not null,
      problem text null,
      key repository_checks_looked (looked_at)
    )`,
    // The position of doctor in the files of builds.
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
