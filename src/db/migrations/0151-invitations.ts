import type { Migration } from './migration.js'

// Somebody may become a member with a link that was mailed to an address. `user_id` is the person who invites; null for a command.
export const invitations: Migration = {
  name: '0151-invitations',
  up: [
    `create table if not exists invitations (
      id int unsigned not null auto_increment primary key,
      source_type varchar(16) not null,
      source_id int unsigned not null,
      address varchar(254) not null,
      address_key varchar(254) not null,
      user_id int unsigned null,
      access_level tinyint unsigned not null,
      expires_at date null,
      created_at datetime(3) not null,
      unique key invitations_address (source_type, source_id, address_key),
      key invitations_user (user_id),
      key invitations_age (created_at)
    )`
  ],
  down: ['drop table if exists invitations']
}
