import type { Migration } from './migration.js'

export const storages: Migration = {
  name: '0130-storages',
  up: [
    // The storages of repositories, each with the machine that owns it. An appliance on one machine has no rows here.
    `create table if not exists storages (
      id int unsigned not null auto_increment primary key,
      name varchar(64) not null,
      -- Null: a folder of the home.
      path varchar(1024) null,
      -- A random text in a file of the folder: a machine that reads it there can reach the storage.
      marker char(32) not null,
      owner char(32) null,
      -- The machine that gets the storage next.
      wanted char(32) null,
      -- Grows with each change of the owner.
      epoch bigint unsigned not null default 1,
      lease_until datetime(3) not null,
      free_bytes bigint unsigned null,
      created_at datetime(3) not null,
      unique key storages_name (name)
    )`,
    // The upper half of a lane is the storage that a job needs.
    'alter table jobs modify column lane bigint unsigned not null default 0'
  ],
  down: [
    'update jobs set lane = 0 where lane >= 4294967296',
    'alter table jobs modify column lane int unsigned not null default 0',
    'drop table if exists storages'
  ]
}
