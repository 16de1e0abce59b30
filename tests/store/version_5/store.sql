BEGIN TRANSACTION;
CREATE TABLE chunks (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                collection INTEGER NOT NULL,
                document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
                ord INTEGER NOT NULL,
                text_id INTEGER NOT NULL REFERENCES texts (id),
                header INTEGER NOT NULL,
                start INTEGER NOT NULL,
                "end" INTEGER NOT NULL,
                byte_start INTEGER NOT NULL,
                byte_end INTEGER NOT NULL,
                line_start INTEGER NOT NULL,
                line_end INTEGER NOT NULL,
                page INTEGER,
                page_label NOT NULL,
                kind NOT NULL,
                symbol NOT NULL
            , unit NOT NULL DEFAULT '');
INSERT INTO "chunks" VALUES(1,1,1,0,1,0,0,69,0,69,1,5,NULL,'','config','agents','');
INSERT INTO "chunks" VALUES(2,1,2,0,2,0,0,145,0,145,1,10,NULL,'','code','Lease Lease.renew Clock Clock.now','');
INSERT INTO "chunks" VALUES(3,1,3,0,3,5,0,75,0,75,1,3,NULL,'','doc','','');
INSERT INTO "chunks" VALUES(4,1,4,0,4,6,0,58,0,58,1,3,NULL,'','doc','','');
INSERT INTO "chunks" VALUES(5,1,5,0,5,5,0,70,0,70,1,3,NULL,'','doc','','');
INSERT INTO "chunks" VALUES(6,1,6,0,6,0,0,2,0,4,1,1,NULL,'','doc','','');
INSERT INTO "chunks" VALUES(7,1,7,0,7,0,0,47,0,47,1,1,NULL,'','doc','','');
INSERT INTO "chunks" VALUES(8,2,8,0,8,5,0,70,0,70,1,3,NULL,'','doc','','');
INSERT INTO "chunks" VALUES(9,3,9,0,9,0,0,33,0,33,1,1,NULL,'','turn','','');
INSERT INTO "chunks" VALUES(10,3,10,0,10,0,0,33,0,33,1,1,NULL,'','turn','','');
INSERT INTO "chunks" VALUES(11,4,11,0,11,0,0,39,0,39,1,1,NULL,'','turn','','');
INSERT INTO "chunks" VALUES(12,4,12,0,12,0,0,33,0,33,1,1,NULL,'','turn','','');
INSERT INTO "chunks" VALUES(13,3,13,0,13,0,0,53,0,53,1,1,NULL,'','turn','','');
INSERT INTO "chunks" VALUES(14,5,14,0,14,0,0,30,0,30,1,1,NULL,'','text','','');
INSERT INTO "chunks" VALUES(15,6,15,0,15,0,0,35,0,35,1,1,NULL,'','turn','','');
CREATE TABLE collection_spaces (
                collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
                space INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
                state TEXT NOT NULL,
                PRIMARY KEY (collection, space)
            ) WITHOUT ROWID;
INSERT INTO "collection_spaces" VALUES(1,1,'active');
INSERT INTO "collection_spaces" VALUES(2,2,'active');
INSERT INTO "collection_spaces" VALUES(3,3,'active');
INSERT INTO "collection_spaces" VALUES(4,3,'active');
INSERT INTO "collection_spaces" VALUES(5,4,'active');
INSERT INTO "collection_spaces" VALUES(6,5,'active');
CREATE TABLE collections (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                uuid TEXT NOT NULL UNIQUE,
                project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
                name TEXT NOT NULL,
                description TEXT NOT NULL,
                settings TEXT NOT NULL,
                documents INTEGER NOT NULL DEFAULT 0,
                chunks INTEGER NOT NULL DEFAULT 0,
                updated_at REAL,
                UNIQUE (project, name)
            );
INSERT INTO "collections" VALUES(1,'6a03490c-c336-4734-a3d5-a57a62e548b3',1,'default','','{}',7,7,1.79497068279803943628e+09);
INSERT INTO "collections" VALUES(2,'136ccc02-b5b7-4b73-bc64-0ec8ee498a92',2,'default','','{}',1,1,1.79497068395930266379e+09);
INSERT INTO "collections" VALUES(3,'d0aedcf3-776c-441e-b3da-56afc4308ef9',3,'monday','','{}',3,3,1.79497068421078586576e+09);
INSERT INTO "collections" VALUES(4,'50466478-bad5-462f-82cd-4ede4ab0d806',3,'docs','','{}',2,2,1.79497068419080758093e+09);
INSERT INTO "collections" VALUES(5,'4cfb912d-51e7-4e92-bcbc-cb569b362f4b',4,'default','','{}',1,1,1.79497068430271816252e+09);
INSERT INTO "collections" VALUES(6,'52700001-6593-4e6a-af57-cb86c5e6c512',5,'monday','','{}',1,1,1.79497068433499574668e+09);
CREATE TABLE documents (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
                uri NOT NULL,
                kind NOT NULL,
                language NOT NULL,
                title NOT NULL,
                metadata TEXT NOT NULL,
                marks TEXT,
                source NOT NULL,
                hash TEXT NOT NULL,
                content_hash NOT NULL,
                recipe NOT NULL,
                stamp TEXT,
                characters INTEGER NOT NULL,
                chunks INTEGER NOT NULL,
                gaps NOT NULL,
                added_at REAL NOT NULL, beside NOT NULL DEFAULT '',
                UNIQUE (collection, uri)
            );
INSERT INTO "documents" VALUES(1,1,'agents.yaml','config','yaml','agents.yaml','{}',NULL,'files','019e1524efa0a62d726a43858bdcfa5d59cf948d59720410d59dfddb0f73f3ef','95999db7da6e203d11794fd78f81708b55402d42fb1952119aa90cf8be528fbd','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,70,1,'
',1.79497068279803943628e+09,'');
INSERT INTO "documents" VALUES(2,1,'app/lease.py','code','python','lease.py','{}',NULL,'files','b8c0d36b763fa95b848865bf2666d65443ed94ab88da496b25725d299608fa81','9a2192b542092b86df0b61f5e02c3ad5c5c9758811315c6cf1fc2e052c7439e7','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,146,1,'
',1.79497068279803943628e+09,'');
INSERT INTO "documents" VALUES(3,1,'docs/locks.md','doc','markdown','Locks','{}',NULL,'files','9f576bac451d588e9879e842aab4857085b00d593cec49b68d8b183b722403be','a6e88995de6eec0f8f721aa185163dc126871a990859e2f6240ba7382b89d699','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,76,1,'
',1.79497068279803943628e+09,'');
INSERT INTO "documents" VALUES(4,1,'docs/rivers.md','doc','markdown','Rivers','{}',NULL,'files','7fd028c909142f53bfc628e5ed036528cf4b35c89c39733fcfb6f14a2b53108f','784c498f188b55f45656b0b6ec37dc225584896ea4bc60452abf8282d3d78839','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,59,1,'
',1.79497068279803943628e+09,'');
INSERT INTO "documents" VALUES(5,1,'guide/shell.md','doc','markdown','Shell','{}',NULL,'files','f1fb4fe5f732e60ce5c74f17f50672f1cf99a6189bab5b1a10ad6d116871bf11','015a1bd968b7288ea79f140b06a0bc5e76dd5ed450205da6c611152d1bbee213','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,71,1,'
',1.79497068279803943628e+09,'');
INSERT INTO "documents" VALUES(6,1,'odd.txt','doc','text','odd.txt','{"encoding": "utf-16-le"}',NULL,'files','5b3a35760dd75ceb6969211d89678246e2612ebc1595c31e26249b2418bfe7e3','054edec1d0211f624fed0cbca9d4f9400b0e491c43742af2c5b0abebf0c990d8','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,2,1,'',1.79497068279803943628e+09,'');
INSERT INTO "documents" VALUES(7,1,'shared.txt','doc','text','shared.txt','{}',NULL,'files','dfd6d497f38aaf98d10bcc1812f68dbd14b6eade12ef4ac438d6343e01048ff4','690225880334f4669bec80ba6d5d50dfacfa54cb6c26b72647a7d0669540db73','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,47,1,'',1.79497068279803943628e+09,'');
INSERT INTO "documents" VALUES(8,2,'guide/shell.md','doc','markdown','Shell','{}',NULL,'files','f1fb4fe5f732e60ce5c74f17f50672f1cf99a6189bab5b1a10ad6d116871bf11','015a1bd968b7288ea79f140b06a0bc5e76dd5ed450205da6c611152d1bbee213','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,71,1,'
',1.79497068395930266379e+09,'');
INSERT INTO "documents" VALUES(9,3,'turn:000000000','turn','text','','{"role": "user", "time": 1700000000.0, "index": 0, "session": "monday", "prefix": 6, "length": 33}',NULL,'','99c1031eeb751fe87b7e4da9e2831fb7e39782a211614ab9b4cac679c82234d6','99c1031eeb751fe87b7e4da9e2831fb7e39782a211614ab9b4cac679c82234d6','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,33,1,'',1.7949706840733120442e+09,'14 November 2023 Tuesday');
INSERT INTO "documents" VALUES(10,3,'turn:000000001','turn','text','','{"role": "assistant", "time": 1700000001.0, "index": 1, "session": "monday", "prefix": 11, "length": 33}',NULL,'','cc151caa50692b3085fbaeaa5479a5ed71d87b874916771e71328f87ff6ade03','cc151caa50692b3085fbaeaa5479a5ed71d87b874916771e71328f87ff6ade03','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,33,1,'',1.79497068412309026715e+09,'14 November 2023 Tuesday
user: My cat is called Olivander.');
INSERT INTO "documents" VALUES(11,4,'turn:000000000','turn','text','','{"role": "user", "time": 1700000000.0, "index": 0, "session": "docs", "prefix": 6, "length": 39}',NULL,'','fdd130b7f2a13f82afa8eacf40fd44dd2ca043875ec41c03063c7b610aae864d','fdd130b7f2a13f82afa8eacf40fd44dd2ca043875ec41c03063c7b610aae864d','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,39,1,'',1.79497068416305732732e+09,'14 November 2023 Tuesday');
INSERT INTO "documents" VALUES(12,4,'turn:000000001','turn','text','','{"role": "user", "time": 1700000001.0, "index": 1, "session": "docs", "prefix": 6, "length": 33}',NULL,'','f6542760f0d265d27fd6c09aaf2b2a5d61b2ae3a78a76f062ac0003578dadd37','f6542760f0d265d27fd6c09aaf2b2a5d61b2ae3a78a76f062ac0003578dadd37','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,33,1,'',1.79497068419080758093e+09,'14 November 2023 Tuesday
user: We moved the meeting to Thursday.');
INSERT INTO "documents" VALUES(13,3,'turn:000000002','turn','text','','{"role": "user", "time": 1700000009.0, "index": 2, "session": "monday", "prefix": 6, "length": 53}',NULL,'','851e7c7f55c557551fe4d51865b77a5bc3857a535c1fd84ecfa7537c04488f4c','851e7c7f55c557551fe4d51865b77a5bc3857a535c1fd84ecfa7537c04488f4c','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,53,1,'',1.79497068421078586576e+09,'14 November 2023 Tuesday
user: My cat is called Olivander.
assistant: A fine name for a cat.');
INSERT INTO "documents" VALUES(14,5,'note','text','','','{}',NULL,'','8d32be1f6586bd7c5477fc664e81cb69b682ed4472449fbb1ce6a7fe187299ad','8d32be1f6586bd7c5477fc664e81cb69b682ed4472449fbb1ce6a7fe187299ad','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,30,1,'',1.79497068430271816252e+09,'');
INSERT INTO "documents" VALUES(15,6,'turn:000000000','turn','text','','{"role": "user", "time": 1700000000.0, "index": 0, "session": "monday", "prefix": 6, "length": 35}',NULL,'','00287f86d5a617a8d4eaec859a4e1ba90994e8f889ca39c0ed9bde5ab535b1cb','00287f86d5a617a8d4eaec859a4e1ba90994e8f889ca39c0ed9bde5ab535b1cb','auto:python/1/300,definitions/2/300,markdown/1/160/0,marked/1/160/0,rows/1/300,keys/1/300,openapi/1/300,lines/1/300/50,prose/1/160/0;read/1;secrets/1/97433876',NULL,35,1,'',1.79497068433499574668e+09,'14 November 2023 Tuesday');
CREATE TABLE graph_aliases (
                id INTEGER PRIMARY KEY,
                collection INTEGER NOT NULL,
                owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
                folded NOT NULL,
                name NOT NULL,
                key NOT NULL,
                kind NOT NULL,
                uri NOT NULL
            );
INSERT INTO "graph_aliases" VALUES(1,1,2,'app.lease.lease','app.lease.Lease','class:app.lease.Lease','class','app/lease.py');
INSERT INTO "graph_aliases" VALUES(2,1,2,'lease','Lease','class:app.lease.Lease','short_class','app/lease.py');
INSERT INTO "graph_aliases" VALUES(3,1,2,'app.lease.lease.renew','app.lease.Lease.renew','method:app.lease.Lease.renew','method','app/lease.py');
INSERT INTO "graph_aliases" VALUES(4,1,2,'lease.renew','Lease.renew','method:app.lease.Lease.renew','short_method','app/lease.py');
INSERT INTO "graph_aliases" VALUES(5,1,2,'app.lease.clock','app.lease.Clock','class:app.lease.Clock','class','app/lease.py');
INSERT INTO "graph_aliases" VALUES(6,1,2,'clock','Clock','class:app.lease.Clock','short_class','app/lease.py');
INSERT INTO "graph_aliases" VALUES(7,1,2,'app.lease.clock.now','app.lease.Clock.now','method:app.lease.Clock.now','method','app/lease.py');
INSERT INTO "graph_aliases" VALUES(8,1,2,'clock.now','Clock.now','method:app.lease.Clock.now','short_method','app/lease.py');
CREATE TABLE graph_kept (
                owner INTEGER PRIMARY KEY REFERENCES graph_owners (id) ON DELETE CASCADE,
                data BLOB NOT NULL
            );
INSERT INTO "graph_kept" VALUES(2,X'78015D90D10AC2300C457FA5E44921540B13DDA3F8EA1F943D942DA258B7B20ED4BF37E91618C2A0ED4DEEB9C93C8494769142269BBE8090BED37DE8F9C2BA2D3AA0F770950E56F56C63C819708F75850E0F0845305A3E9B38B44F33DDC364E8931E2365CB6E68D0C3483DBD1565F5F522CEED00AB5A9095203BBA9952DE648AB7ADF87500E15C2482153D9791EA23BAEA8027747B9D4A3B8420CE7E90FCA2DAF9AEE9CEF13AECAE8B5B06E0FA3A7E46354CE1CF431B625494D065ECF20F96BD246DE959856E7897FFC699D8343F6E0D7691');
CREATE TABLE graph_links (
                id INTEGER PRIMARY KEY,
                collection INTEGER NOT NULL,
                owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
                kind NOT NULL,
                source NOT NULL,
                target NOT NULL,
                uri NOT NULL,
                line INTEGER NOT NULL,
                confidence TEXT NOT NULL,
                conditional INTEGER NOT NULL,
                ord INTEGER NOT NULL,
                attributes TEXT NOT NULL
            );
INSERT INTO "graph_links" VALUES(1,1,2,'CALLS','method:app.lease.Lease.renew','class:app.lease.Clock','app/lease.py',5,'declared',0,0,'{"how": "new"}');
INSERT INTO "graph_links" VALUES(2,1,2,'CALLS','method:app.lease.Lease.renew','method:app.lease.Clock.now','app/lease.py',5,'declared',0,0,'{}');
CREATE TABLE graph_nodes (
                id INTEGER PRIMARY KEY,
                collection INTEGER NOT NULL,
                owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
                key NOT NULL,
                kind NOT NULL,
                name NOT NULL,
                uri NOT NULL,
                line INTEGER NOT NULL,
                line_end INTEGER NOT NULL,
                signature NOT NULL,
                doc NOT NULL,
                language NOT NULL,
                framework NOT NULL,
                attributes TEXT NOT NULL,
                UNIQUE (owner, key)
            );
INSERT INTO "graph_nodes" VALUES(1,1,2,'file:app/lease.py','file','lease.py','app/lease.py',1,0,'','','python','','{}');
INSERT INTO "graph_nodes" VALUES(2,1,2,'class:app.lease.Lease','class','Lease','app/lease.py',1,5,'class Lease','A lock that expires.','python','','{}');
INSERT INTO "graph_nodes" VALUES(3,1,2,'method:app.lease.Lease.renew','method','renew','app/lease.py',4,5,'def renew(self)','','python','','{}');
INSERT INTO "graph_nodes" VALUES(4,1,2,'class:app.lease.Clock','class','Clock','app/lease.py',8,10,'class Clock','','python','','{}');
INSERT INTO "graph_nodes" VALUES(5,1,2,'method:app.lease.Clock.now','method','now','app/lease.py',9,10,'def now(self)','','python','','{}');
CREATE TABLE graph_owners (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                collection INTEGER NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
                owner NOT NULL,
                stamp NOT NULL,
                UNIQUE (collection, owner)
            );
INSERT INTO "graph_owners" VALUES(1,1,'file:agents.yaml','1:95999db7da6e203d11794fd78f81708b55402d42fb1952119aa90cf8be528fbd;read/1;secrets/1/97433876');
INSERT INTO "graph_owners" VALUES(2,1,'file:app/lease.py','1:9a2192b542092b86df0b61f5e02c3ad5c5c9758811315c6cf1fc2e052c7439e7;read/1;secrets/1/97433876');
CREATE TABLE graph_unresolved (
                id INTEGER PRIMARY KEY,
                collection INTEGER NOT NULL,
                owner INTEGER NOT NULL REFERENCES graph_owners (id) ON DELETE CASCADE,
                kind NOT NULL,
                source NOT NULL,
                name NOT NULL,
                receiver NOT NULL,
                uri NOT NULL,
                line INTEGER NOT NULL,
                reason NOT NULL
            );
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO "meta" VALUES('generation',51);
INSERT INTO "meta" VALUES('schema_version',5);
INSERT INTO "meta" VALUES('uuid','e6c626f4-6bd6-4262-829d-a2efb2565319');
INSERT INTO "meta" VALUES('words_version','');
CREATE TABLE notes (
                project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
                key TEXT NOT NULL,
                value TEXT NOT NULL,
                PRIMARY KEY (project, key)
            ) WITHOUT ROWID;
INSERT INTO "notes" VALUES(1,'fingerprint:default','e7c98a4a66b9cc5fcbfa137440ee0a7bee9ac940204300510f81fc5c732cecb4');
INSERT INTO "notes" VALUES(1,'graph_seconds:default','0.34');
INSERT INTO "notes" VALUES(1,'last_sync:default','1794970683.8557472');
INSERT INTO "notes" VALUES(1,'root:default','["/srv/project", ".."]');
INSERT INTO "notes" VALUES(1,'sent:docs','["30af59bfe09226a1", "c8534086b7b43911"]');
INSERT INTO "notes" VALUES(1,'whole:default','1');
INSERT INTO "notes" VALUES(2,'fingerprint:default','e04003cc68d0158664bbc4827e0281c76a85e69cbaff0f6bc1620d8e947f9145');
INSERT INTO "notes" VALUES(2,'last_sync:default','1794970683.9928298');
INSERT INTO "notes" VALUES(2,'root:default','["/srv/project", ".."]');
INSERT INTO "notes" VALUES(2,'whole:default','1');
INSERT INTO "notes" VALUES(3,'next_turn:docs','2');
INSERT INTO "notes" VALUES(3,'next_turn:monday','3');
INSERT INTO "notes" VALUES(3,'stamp:docs','db0c23eba30fdec8');
INSERT INTO "notes" VALUES(3,'stamp:monday','0b4bd4db9bd69bb4');
INSERT INTO "notes" VALUES(5,'next_turn:monday','1');
INSERT INTO "notes" VALUES(5,'stamp:monday','3babc9a30483c58e');
CREATE TABLE projects (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
INSERT INTO "projects" VALUES(1,'default');
INSERT INTO "projects" VALUES(2,'defaultagent:shell');
INSERT INTO "projects" VALUES(3,'defaultmemory');
INSERT INTO "projects" VALUES(4,'beta');
INSERT INTO "projects" VALUES(5,'betamemory');
CREATE TABLE spaces (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
                fingerprint TEXT NOT NULL,
                spec TEXT NOT NULL,
                storage TEXT NOT NULL,
                width INTEGER,
                epoch TEXT NOT NULL,
                UNIQUE (project, fingerprint, storage)
            );
INSERT INTO "spaces" VALUES(1,1,'809ef75593ba8edb2c5b84b865eb770b71efa596fabd25c48fe2d7bbd755d941','{"embedder": "fake", "model": "hashed-words", "dimension": 128, "query_prefix": "", "document_prefix": "", "normalised": true, "version": "1"}','int10',164,'e671f839-3bdc-4a51-8c1d-01184c7105d5');
INSERT INTO "spaces" VALUES(2,2,'809ef75593ba8edb2c5b84b865eb770b71efa596fabd25c48fe2d7bbd755d941','{"embedder": "fake", "model": "hashed-words", "dimension": 128, "query_prefix": "", "document_prefix": "", "normalised": true, "version": "1"}','int10',164,'d32923f4-fb71-4eaf-84b1-06340f135dd2');
INSERT INTO "spaces" VALUES(3,3,'809ef75593ba8edb2c5b84b865eb770b71efa596fabd25c48fe2d7bbd755d941','{"embedder": "fake", "model": "hashed-words", "dimension": 128, "query_prefix": "", "document_prefix": "", "normalised": true, "version": "1"}','int10',164,'0dd882b7-099d-4544-8d65-2d4dccc28efc');
INSERT INTO "spaces" VALUES(4,4,'809ef75593ba8edb2c5b84b865eb770b71efa596fabd25c48fe2d7bbd755d941','{"embedder": "fake", "model": "hashed-words", "dimension": 128, "query_prefix": "", "document_prefix": "", "normalised": true, "version": "1"}','int10',164,'54a5ba1a-86f5-4fa4-9846-52361a28035c');
INSERT INTO "spaces" VALUES(5,5,'809ef75593ba8edb2c5b84b865eb770b71efa596fabd25c48fe2d7bbd755d941','{"embedder": "fake", "model": "hashed-words", "dimension": 128, "query_prefix": "", "document_prefix": "", "normalised": true, "version": "1"}','int10',164,'89450888-fb01-47cf-9e42-20730b68b78c');
CREATE TABLE texts (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                project INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
                hash BLOB NOT NULL,
                body NOT NULL,
                UNIQUE (project, hash)
            );
INSERT INTO "texts" VALUES(1,1,X'EF569E7ADBD6C397','agents:
  shell:
    docs:
      strategy: rag
      sources: [guide]');
INSERT INTO "texts" VALUES(2,1,X'033DB9CB9E1C1955','class Lease:
    """A lock that expires."""

    def renew(self):
        return Clock().now()


class Clock:
    def now(self):
        return 0');
INSERT INTO "texts" VALUES(3,1,X'B3BD11EB6FC54CD0','Locks
# Locks

A lease is a lock that expires. The broker renews it every minute.');
INSERT INTO "texts" VALUES(4,1,X'7F71FED4E80BE2BA','Rivers
# Rivers

The river crosses the valley and feeds the mill.');
INSERT INTO "texts" VALUES(5,1,X'33D2FFC344B21C64','Shell
# Shell

Quote every variable. A pipe passes text to the next program.');
INSERT INTO "texts" VALUES(6,1,X'9B30E9CE16DACDE0','Ā̂');
INSERT INTO "texts" VALUES(7,1,X'690225880334F466','A text that the folder and a session both have.');
INSERT INTO "texts" VALUES(8,2,X'33D2FFC344B21C64','Shell
# Shell

Quote every variable. A pipe passes text to the next program.');
INSERT INTO "texts" VALUES(9,3,X'EEE3550D6540F7D3','user: My cat is called Olivander.');
INSERT INTO "texts" VALUES(10,3,X'C225C36B76167D92','assistant: A fine name for a cat.');
INSERT INTO "texts" VALUES(11,3,X'B24C91861173D315','user: We moved the meeting to Thursday.');
INSERT INTO "texts" VALUES(12,3,X'366859E785F9EA01','user: The mill needs a new wheel.');
INSERT INTO "texts" VALUES(13,3,X'692346DF80F89724','user: A text that the folder and a session both have.');
INSERT INTO "texts" VALUES(14,4,X'44288A2A8DBE4BE8','Another project with a valley.');
INSERT INTO "texts" VALUES(15,5,X'3200DCFC01E0E00F','user: A session of another project.');
CREATE TABLE vectors (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                space INTEGER NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
                text_id INTEGER NOT NULL REFERENCES texts (id) ON DELETE CASCADE,
                data BLOB NOT NULL,
                UNIQUE (text_id, space)
            );
INSERT INTO "vectors" VALUES(1,1,1,X'A36ED1390000007F00008000007F7F0000000000007F00000000000000000000007F0000000000000000000000000000007F00007F8000807F0000000000007F00000000000000007F008000008000000000800000000000000000000000000000007F800000008000000000000000007F007F000000800000000000007F00007F000000000000433000110000130300C00CD0000C0740040C00000000C0000CC0033010');
INSERT INTO "vectors" VALUES(2,1,2,X'664C4F3A000000CB2525CB00000000DA000000250000000F0000000000DA0000000025DA350000CBDA00000000000000000000003500CB00003500002500CB00CB00CB00DA0025250000F0350035F000000000008000000000000000000000DACBDACB25000000000000DACBCB25CB25DA0000250000000000DA00003500000025250000200020200A02A000008020828000008210000002008000000802002080A00222');
INSERT INTO "vectors" VALUES(3,1,3,X'2353313A000000D2D22D002D0000000000D2002D2D00000000C0D2002DD22D2D00D240D200000000D22D0000002D00930000002D0000000000002D002D00D2D200000000C0007F0000D200D200002D0000000000A500000000000000000000C000D2A50000D2000000C0A50000002D2DD20000000000000000000000000000002D00000000C030030F35C03100045040C0030005310000000000070005030D0D40333003');
INSERT INTO "vectors" VALUES(4,1,4,X'3E163D3A000000CB0000000000000035000000005B00000000000000000000000000CB00000000B5CB000000000000A43500003500000000000000000000A4CB3500000000000035CB00000035007F00000000CB3500000000CB0000004A00000000A400000000353500000000000000000000CB0000B50000CB000000000000000000CB0000000400000000000030040000000003004000000000000030040000001000');
INSERT INTO "vectors" VALUES(5,1,5,X'61DD5E3A00000000000000000000002500000000253500DADA000000DA00DA0000B52500DA0000DA00000000B5250000250000DA000000CB000000B50000DA7F0000DADAB52500DA0000000000000025DA00CB00000000DA000000250000DADA0000DADA0000000000DA000000DA00000000000000DA000000000000000000000000000018200028008000000488002228000008028000220200002402002A2C00012A28');
INSERT INTO "vectors" VALUES(6,1,6,X'2040803A0000000000000000007F0000000000000000007F0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008000000000000000000000000010000000000000000300000000000000000003400000000000000000000000');
INSERT INTO "vectors" VALUES(7,1,7,X'00D02A3A00C000C0000000000000000000C0000040000000000000000000C00000005A00C00040008040C000C00000C000C0004000000000000000000000C00000000000A5C05A40000000000000000000000000C000C00000000040000000A500C0C0C00000000000000000000000000000000000000000000000C000000000000000403000100004000000000000000000000000000000000000000000003000000100');
INSERT INTO "vectors" VALUES(8,2,8,X'61DD5E3A00000000000000000000002500000000253500DADA000000DA00DA0000B52500DA0000DA00000000B5250000250000DA000000CB000000B50000DA7F0000DADAB52500DA0000000000000025DA00CB00000000DA000000250000DADA0000DADA0000000000DA000000DA00000000000000DA000000000000000000000000000018200028008000000488002228000008028000220200002402002A2C00012A28');
INSERT INTO "vectors" VALUES(9,3,9,X'5417513A00000000000000000000C000004000000000000000C0004040007F000000000000000000000000400040000000C00040000000400000000000000040004000000000C000004000C00000000000C00000400000000000000040000000C0C0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000030000000000');
INSERT INTO "vectors" VALUES(10,3,10,X'7A2E143A00005A0000000000005A000000000000000000A5000000005A00000000007F005A00000000000000000000000000000000A5005A0000000000000000005A000080007F00005A0000000000000000000000005A005A0000A50000008000A500000000000000A50000000000000000A50000000000000000000000005A000000001400310000D00000000100000000C000000C1007100000300100005000340300');
INSERT INTO "vectors" VALUES(11,3,11,X'A065803A000000000000000000000000007F00002A000000000000000000000000D5002A000000002A002A00D50000D5D52A002A00000000000000000000D50000000000002A00000000000000000000D5D50000000000D5002A0000D5000000D500D50000000000000000000000D50000000000D500D500AA000000000000D500000000002000000800080008008008282B000882008020C02000002000088020022002');
INSERT INTO "vectors" VALUES(12,3,12,X'4737C93900000000000000000000007F007F00007F007F00000000000080000000007F007F007F0000000000000000800000007F0000000000000000000080800000000080007F000000008000007F000000000000008000000000000000000080008000000000000000008000000000000000000000800000800080800000800000007F1C003C0000000050000030070003000C030053000040004040010444100013C0');
INSERT INTO "vectors" VALUES(13,3,13,X'9610223A00C000C000000000000000000000000040000000000000000000C00000005A00C00040008040C000C00000C000C0007F00000000000000000000C00000000000A5C05A40000000000000000000000000C000C00000000040000000A5C0C0C0C00000000000000000000000000000000000000000000000C0000000C0000000403000100004000000000000000000000C00000000000000000000003000000100');
INSERT INTO "vectors" VALUES(14,4,14,X'2040003A0000000000000000000000000000008000000000000000000000000000007F000000000000000000000000007F00000000007F00000000007F00000000007F0000007F00000000007F000000000000007F0000000000008000000080000000000000007F000000000000000000000080800000007F0000000000000000000080000030C000000000300000000C00004170000C00C00000100C00001000000F40');
INSERT INTO "vectors" VALUES(15,5,15,X'D9D4F1390000000000000000000000000000008000000000000000000000000000007F7F00000000807F0000000000000000007F0000000000000000000000000000800000007F80000000000000000000007F000000000000000080000000808000000000000000000000000000000000008000800000007F000000000000800000008000003010040C0000000000000000700D40000000C00000100000005010000743');
CREATE INDEX chunks_of_document ON chunks (document, ord);
CREATE INDEX chunks_of_text ON chunks (text_id, collection);
CREATE INDEX chunks_of_collection ON chunks (collection, text_id);
CREATE INDEX vectors_of_space ON vectors (space);
CREATE INDEX graph_nodes_by_key ON graph_nodes (collection, key);
CREATE INDEX graph_nodes_by_kind ON graph_nodes (collection, kind, key);
CREATE INDEX graph_nodes_by_uri ON graph_nodes (collection, uri, key);
CREATE INDEX graph_links_of_owner ON graph_links (owner);
CREATE INDEX graph_links_from ON graph_links (collection, source, kind, ord);
CREATE INDEX graph_links_to ON graph_links (collection, target, kind, ord);
CREATE INDEX graph_aliases_of_owner ON graph_aliases (owner);
CREATE INDEX graph_aliases_by_name ON graph_aliases (collection, folded);
CREATE INDEX graph_unresolved_of_owner ON graph_unresolved (owner);
CREATE INDEX graph_unresolved_by_name ON graph_unresolved (collection, name);
CREATE INDEX graph_unresolved_by_source ON graph_unresolved (collection, source);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('projects',5);
INSERT INTO "sqlite_sequence" VALUES('collections',6);
INSERT INTO "sqlite_sequence" VALUES('texts',15);
INSERT INTO "sqlite_sequence" VALUES('documents',15);
INSERT INTO "sqlite_sequence" VALUES('chunks',15);
INSERT INTO "sqlite_sequence" VALUES('graph_owners',2);
INSERT INTO "sqlite_sequence" VALUES('spaces',5);
INSERT INTO "sqlite_sequence" VALUES('vectors',15);
COMMIT;
CREATE VIRTUAL TABLE words USING fts5 (
                body, symbol, header, path, content='', tokenize="ascii tokenchars '_'"
            );
CREATE VIRTUAL TABLE words_terms USING fts5vocab (words, row);
PRAGMA application_id = 1380009811;
